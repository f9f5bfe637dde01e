#include "interconnect.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint64_t bytes_on_link = 72;  // a line and its header

}  // namespace

Interconnect::Interconnect(const MachineModel& machine)
    : machine_(machine),
      node_of_llc_(machine.topology.llcs(), 0),
      controllers_(machine.topology.nodes()),
      links_(machine.link_service.size()),
      fabrics_(machine.topology.llcs()),
      fabrics_out_(machine.topology.llcs()),
      llcs_(machine.topology.llcs()) {
    for (std::size_t core = machine.topology.cores(); core-- > 0;)
        node_of_llc_[machine.topology.llc_of_core()[core]] = machine.topology.node_of_core()[core];
}

// Every link of the route serves the line in turn. A link passes the line on while it still
// arrives: the idle time of the route is part of the latencies by distance.
Ticks Interconnect::cross_links(std::uint32_t pair, Ticks now, Counts& n) {
    Ticks wait = 0;
    for (std::uint32_t hop = machine_.route_begin[pair]; hop < machine_.route_begin[pair + 1];
         ++hop) {
        const std::uint32_t link = machine_.route_links[hop];
        n[link_bytes] += bytes_on_link;
        wait += links_[link].take(now + wait, machine_.link_service[link]);
    }
    n[link_queue_clocks] += clocks(wait);
    return wait;
}

Ticks Interconnect::transfer(std::uint32_t from_llc, std::uint32_t to_llc, std::uint32_t to_node,
                             std::uint32_t away, Ticks now, Counts& n) {
    ++n[away == 0   ? cache_to_cache_transfers_same_llc
        : away == 1 ? cache_to_cache_transfers_same_package
                    : cache_to_cache_transfers_remote];
    if (away != 0) ++n[cache_to_cache_transfers_other_llc];
    if (from_llc == to_llc) return cross(node_of_llc_[from_llc], to_node, now, n);
    return carry(from_llc, to_llc, to_node, now, n);
}

Ticks Interconnect::copy(std::uint32_t from_home, std::uint32_t to_home, Ticks now, Counts& n) {
    const Ticks read = now + controllers_[from_home].take(now, machine_.memory_service[from_home]);
    const Ticks sent = read + cross(from_home, to_home, read, n);
    return sent + controllers_[to_home].take(sent, machine_.memory_service[to_home]);
}

}  // namespace autofinity::sim
