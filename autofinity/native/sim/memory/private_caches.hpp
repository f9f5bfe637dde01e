// L1, L2, TLBs and prefetcher of one core. No knowledge of other cores.
#pragma once

#include <vector>

#include "prefetcher.hpp"
#include "sets.hpp"
#include "sim/counts.hpp"
#include "sim/machine.hpp"
#include "tlb.hpp"
#include "units.hpp"

namespace autofinity::sim {

struct PrivateCaches;

// An L2 and the cores in use that share it; one core where L2s are private or there is none. To the
// directory it is one holder of lines.
struct L2Domain {
    L2Domain(const MachineModel& m, std::uint32_t core, bool may_be_shared)
        : l2(m.classes[m.class_of_core[core]].side.l2.sets,
             m.classes[m.class_of_core[core]].side.l2.ways),
          number(m.topology.l2_of_core()[core]),
          llc(m.topology.llc_of_core()[core]),
          node(m.topology.node_of_core()[core]),
          shared(may_be_shared) {}

    Sets l2;
    std::uint32_t number;  // in the machine
    std::uint32_t llc, node;
    bool shared;                       // several cores of the machine have it
    std::vector<std::uint32_t> cores;  // of its cores
    PrivateCaches* first = nullptr;    // of the first of these
};

struct PrivateCaches {
    PrivateCaches(const MachineModel& m, std::uint32_t core_number, const Units& translation_units,
                  L2Domain& of, std::uint32_t domain_number)
        : side(m.classes[m.class_of_core[core_number]].side),
          units(translation_units),
          l1(side.l1.sets, side.l1.ways),
          l2(of.l2),
          tlb1(side.tlb1, units.count()),
          tlb2(side.tlb2.sets, side.tlb2.ways),
          prefetcher(side.prefetch),
          core(core_number),
          llc(of.llc),
          node(of.node),
          domain(domain_number),
          has_l2(side.l2.ways != 0),
          exclusive_levels(side.l2_exclusive || !has_l2),
          shares_l2(of.shared) {}

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
    Counts* counts = nullptr;     // of the stream that runs here
};

}  // namespace autofinity::sim
