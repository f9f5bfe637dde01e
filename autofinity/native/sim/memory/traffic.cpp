// Lines on their way: links, controllers, DRAM.
#include "traffic.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint64_t bytes_on_link = 72;  // a line and its header

}  // namespace

// Every link of the route serves the line in turn. It is passed on while it still comes in: the
// idle time of the way is part of the latencies by distance.
Ticks Memory::cross_links(std::uint32_t pair, Ticks now, Counts& n) {
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

// A line from a cache of another domain, or of the own one; returns what it had to wait for.
Ticks Memory::transfer_line(PrivateCaches& c, std::uint32_t from_llc, Ticks now) {
    Counts& n = *counts_;
    const std::uint32_t away = distance(c.llc, from_llc);
    supplied_ = static_cast<std::uint8_t>(away + 1);
    ++n[away == 0   ? cache_to_cache_transfers_same_llc
        : away == 1 ? cache_to_cache_transfers_same_package
                    : cache_to_cache_transfers_remote];
    Ticks wait = cross(node_of_llc_[from_llc], c.node, now, n);
    if (from_llc != c.llc && machine_.fabric_service != 0)
        wait += fabrics_[c.llc].take(now + wait, machine_.fabric_service);
    return wait;
}

}  // namespace autofinity::sim
