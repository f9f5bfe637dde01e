#include "machines.hpp"

#include <utility>
#include <vector>

#include "topology/machine.hpp"

namespace autofinity::fuzz {
namespace {

constexpr sim::Ticks clocks(sim::Ticks count) { return count * sim::ticks_per_clock; }

sim::PrivateSide small_side(std::uint8_t variant) {
    sim::PrivateSide side;
    side.l1 = {4, 2};
    side.l2 = {6, 2};
    side.l2_exclusive = (variant & 1) != 0;
    side.tlb1 = {1, 2};
    side.tlb2 = {2, 2};
    side.l1_hit = clocks(3);
    side.l2_hit = clocks(12);
    side.tlb2_hit = clocks(5);
    side.page_walk = clocks(20);
    side.walk_reads_caches = (variant & 2) != 0;
    side.page_fault = clocks(500);
    if ((variant & 4) != 0) side.prefetch = {2, 2, 4, 2};
    return side;
}

// `clustered`: the nodes are of one socket.
topology::Machine small_topology(bool shared_l2, bool clustered) {
    std::vector<topology::Pu> pus;
    for (const int core : {0, 1, 2, 3, 1, 3}) {
        const int pu = static_cast<int>(pus.size());
        pus.push_back({.os = pu,
                       .smt_rank = pu / 4,
                       .core = core,
                       .l2 = core == 1 && shared_l2 ? 0 : core,
                       .llc = core / 2,
                       .socket = clustered ? 0 : core / 2,
                       .node = core / 2});
    }
    return {std::move(pus), {10, 20, 20, 10}, 2, {}};
}

}  // namespace

std::shared_ptr<const sim::MachineModel> small_machine(std::uint8_t variant) {
    const bool clustered = (variant & 11) == 2;
    auto machine =
        std::make_shared<sim::MachineModel>(small_topology((variant & 1) == 0, clustered));
    machine->class_of_core = {0, 0, 0, 1};
    machine->classes.resize(2);
    for (sim::CoreClass& kind : machine->classes) kind.side = small_side(variant);
    machine->classes[1].instruction *= 2;
    machine->classes[1].misses_in_flight = 1;
    const std::uint8_t away = clustered ? 1 : 2;
    machine->llc_distance = machine->node_distance = {0, away, away, 0};
    machine->llc = {8, 4};
    machine->llc_inclusive = (variant & 8) != 0;
    machine->llc_by_home = clustered;
    machine->owned_state = (variant & 3) == 1;
    machine->clean_forwarding = (variant & 3) == 2;
    if ((variant & 5) == 5) machine->directory = {8, 2};
    if ((variant & 12) == 12) machine->page_bytes = 16384;
    machine->home_of_node = {0, 1};
    machine->llc_hit = clocks(40);
    for (auto* latency :
         {&machine->dram, &machine->load_modified, &machine->load_shared, &machine->store_modified,
          &machine->store_shared, &machine->atomic_modified, &machine->atomic_shared})
        *latency = {clocks(100), clocks(130), clocks(180)};
    machine->atomic_hit = clocks(20);
    machine->memory_service = {clocks(10), clocks(10)};
    machine->link_service = {clocks(8), clocks(8)};
    machine->route_begin = {0, 0, 1, 2, 2};
    machine->route_links = {0, 1};
    machine->fabric_service = clocks(4);
    machine->fabric_write_service = clocks(6);
    machine->llc_service = clocks(1);
    machine->time_slice = clocks(2000);
    machine->context_switch = clocks(100);
    machine->spin = clocks(50);
    machine->wake = clocks(200);
    machine->migration = clocks(300);
    validate(*machine);
    return machine;
}

}  // namespace autofinity::fuzz
