// L1, L2, TLBs and prefetcher of one core. No knowledge of other cores.
#pragma once

#include <cstdint>

#include "prefetcher.hpp"
#include "sets.hpp"
#include "sim/counts.hpp"
#include "sim/machine.hpp"
#include "tlb.hpp"
#include "units.hpp"

namespace autofinity::sim {

struct PrivateCaches {
    // `cached_core`: its number. `shared_l2`: the array, and whether other cores have it too.
    PrivateCaches(const MachineModel& m, const Units& translation_units, std::uint32_t core_number,
                  std::uint32_t cached_core, std::uint32_t l2_domain, const Sets& of_l2,
                  bool shared_l2)
        : side(m.classes[m.class_of_core[core_number]].side),
          units(translation_units),
          l1(side.l1.sets, side.l1.ways),
          l2(of_l2),
          tlb1(side.tlb1, units.count()),
          tlb2(side.tlb2.sets, side.tlb2.ways),
          prefetcher(side.prefetch),
          core(core_number),
          llc(m.topology.llc_of_core()[core]),
          node(m.topology.node_of_core()[core]),
          domain(l2_domain),
          has_l2(side.l2.ways != 0),
          exclusive_levels(side.l2_exclusive || !has_l2),
          shares_l2(shared_l2),
          number(cached_core) {}

    // Whether the first-level TLB translates the page; makes the entry the most recent one.
    bool translates(std::uint32_t page) { return tlb1.touch(units.of(page)); }

    const PrivateSide& side;
    const Units units;
    L1Sets l1;
    Sets l2;
    Tlb tlb1;
    Sets tlb2;
    Prefetcher prefetcher;
    std::uint32_t core, llc, node;
    std::uint32_t domain;  // of its L2, in use
    const bool has_l2;
    const bool exclusive_levels;  // lines are in L1 or L2 but not in both; so without an L2
    const bool shares_l2;         // other cores of the machine have the same L2
    const std::uint32_t number;   // as a cached core
    Counts* counts = nullptr;     // of the stream that runs here
};

}  // namespace autofinity::sim
