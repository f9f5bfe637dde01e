// The ways of lines that most misses take, to be inlined there: nothing to cross, and DRAM.
#pragma once

#include "memory.hpp"

namespace autofinity::sim {

// A HyperTransport or QPI request is about this long.
inline constexpr std::uint64_t bytes_of_signal = 8;

[[gnu::always_inline]] inline Ticks Memory::cross(std::uint32_t from_node, std::uint32_t to_node,
                                                  Ticks now, Counts& n) {
    if (from_node == to_node) return 0;
    const std::uint32_t pair = from_node * machine_.topology.nodes() + to_node;
    if (machine_.route_begin[pair] == machine_.route_begin[pair + 1]) return 0;
    return cross_links(pair, now, n);
}

[[gnu::always_inline]] inline void Memory::signal(std::uint32_t from_node,
                                                  std::uint32_t to_node) const {
    if (from_node == to_node) return;
    const std::uint32_t pair = from_node * machine_.topology.nodes() + to_node;
    (*counts_)[link_request_bytes] +=
        bytes_of_signal * (machine_.route_begin[pair + 1] - machine_.route_begin[pair]);
}

[[gnu::always_inline]] inline Ticks Memory::from_dram(PrivateCaches& c, Line line, Ticks now) {
    Counts& n = *counts_;
    const std::uint32_t home = pages_.node(line >> page_shift);
    const std::uint32_t away = machine_.node_distance[c.node * machine_.topology.nodes() + home];
    ++n[home == c.node ? dram_reads_local : dram_reads_remote];
    Ticks wait = controllers_[home].take(now, machine_.memory_service[home]);
    n[memory_queue_clocks] += clocks(wait);
    wait += cross(home, c.node, now + wait, n);
    if (machine_.fabric_service != 0)
        wait += fabrics_[c.llc].take(now + wait, machine_.fabric_service);
    return now + wait + machine_.dram[away];
}

[[gnu::always_inline]] inline void Memory::write_dram(std::uint32_t from_node, Line line) {
    Counts& n = *counts_;
    ++n[dram_writes];
    const std::uint32_t home = pages_.node(line >> page_shift);
    cross(from_node, home, now_, n);
    controllers_[home].take(now_, machine_.memory_service[home]);
}

}  // namespace autofinity::sim
