// L1, L2, TLBs and prefetcher of one core. No knowledge of other cores.
#pragma once

#include "counts.hpp"
#include "machine.hpp"
#include "prefetcher.hpp"
#include "sets.hpp"
#include "tlb.hpp"
#include "units.hpp"

namespace autofinity::sim {

struct PrivateCaches {
    PrivateCaches(const Machine& m, std::uint32_t core_number, const Units& translation_units)
        : side(m.classes[m.class_of_core[core_number]].side),
          units(translation_units),
          l1(side.l1.sets, side.l1.ways),
          l2(side.l2.sets, side.l2.ways),
          tlb1(side.tlb1, units.count()),
          tlb2(side.tlb2.sets, side.tlb2.ways),
          prefetcher(side.prefetch),
          core(core_number),
          llc(m.llc_of_core[core_number]),
          node(m.node_of_core[core_number]) {}

    bool has_l2() const { return l2.ways() != 0; }
    // Whether lines are in L1 or L2 but not in both; so it is where there is no L2.
    bool exclusive_levels() const { return side.l2_exclusive || !has_l2(); }
    // Whether the first-level TLB translates the page; makes the entry the most recent one.
    bool translates(std::uint32_t page) { return tlb1.touch(units.of(page)); }

    const PrivateSide& side;
    const Units units;
    Sets l1, l2;
    Tlb tlb1;
    Sets tlb2;
    Prefetcher prefetcher;
    std::uint32_t core, llc, node;
    Counts* counts = nullptr;  // of the stream that runs here
};

}  // namespace autofinity::sim
