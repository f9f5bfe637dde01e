// Lines on their way: links between nodes, the fabrics around LLCs, the LLCs' own ports, memory
// controllers. Waits for links and controllers are counted.
//
// The fabric of an LLC domain (the link of an AMD core die to the I/O die) has two directions. No
// access waits for a line that is written back, but an incoming line needs the place of an outgoing
// line: it waits as long as more lines than the buffers hold are on their way out of the domain, or
// into memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "server.hpp"
#include "sim/counts.hpp"
#include "sim/machine.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

class Interconnect {
  public:
    explicit Interconnect(const MachineModel& machine);

    // Resets all servers, as if nothing had been on its way yet.
    void forget() {
        for (auto* servers : {&controllers_, &links_, &fabrics_, &fabrics_out_, &llcs_})
            servers->assign(servers->size(), Server{});
    }

    // Class of the distance of two LLCs.
    std::uint32_t distance(std::uint32_t llc_a, std::uint32_t llc_b) const {
        return machine_.llc_distance[llc_a * machine_.topology.llcs() + llc_b];
    }
    std::uint32_t node_of_llc(std::uint32_t llc) const { return node_of_llc_[llc]; }

    // A request, probe or answer: too small to queue.
    [[gnu::always_inline]] void signal(std::uint32_t from_node, std::uint32_t to_node,
                                       Counts& n) const {
        if (from_node == to_node) return;
        const std::uint32_t pair = from_node * machine_.topology.nodes() + to_node;
        n[link_request_bytes] +=
            bytes_of_signal * (machine_.route_begin[pair + 1] - machine_.route_begin[pair]);
    }
    // Takes a line over the links between two nodes; returns the wait for them. Most misses cross
    // no link.
    [[gnu::always_inline]] Ticks cross(std::uint32_t from_node, std::uint32_t to_node, Ticks now,
                                       Counts& n) {
        if (from_node == to_node) return 0;
        const std::uint32_t pair = from_node * machine_.topology.nodes() + to_node;
        if (machine_.route_begin[pair] == machine_.route_begin[pair + 1]) return 0;
        return cross_links(pair, now, n);
    }
    // Takes a line from a cache of another LLC's domain, or of the own one, `away`; returns the
    // wait.
    Ticks transfer(std::uint32_t from_llc, std::uint32_t to_llc, std::uint32_t to_node,
                   std::uint32_t away, Ticks now, Counts& n);
    // Reads a line at its home for a core at the LLC of a node; returns the time when it is there.
    [[gnu::always_inline]] Ticks from_dram(std::uint32_t home, std::uint32_t to_llc,
                                           std::uint32_t to_node, Ticks now, Counts& n) {
        const std::uint32_t away =
            machine_.node_distance[to_node * machine_.topology.nodes() + home];
        ++n[home == to_node ? dram_reads_local : dram_reads_remote];
        if (home < counted_homes) ++reads_from(n, home);
        Ticks wait = controllers_[home].take(now, machine_.memory_service[home]);
        n[memory_queue_clocks] += clocks(wait);
        wait += cross(home, to_node, now + wait, n);
        wait += enter(to_llc, now + wait);
        return now + wait + machine_.dram[away];
    }
    // Takes a line from an LLC to a core at an LLC of a node; returns how long that takes.
    [[gnu::always_inline]] Ticks from_llc(std::uint32_t llc, std::uint32_t to_llc,
                                          std::uint32_t to_node, Ticks now, Counts& n) {
        const Ticks wait =
            machine_.llc_service == 0 ? 0 : llcs_[llc].take(now, machine_.llc_service);
        if (llc == to_llc) return wait + machine_.llc_hit;
        return wait + machine_.llc_hit + further(node_of_llc_[llc], to_node) +
               carry(llc, to_llc, to_node, now + wait, n);
    }
    // Takes a line from a core at an LLC of a node to another LLC of the socket; nothing waits.
    void to_llc(std::uint32_t llc, std::uint32_t from_llc, std::uint32_t from_node, Ticks now,
                Counts& n) {
        leave(from_llc, now);
        cross(from_node, node_of_llc_[llc], now, n);
        enter(llc, now);
    }
    // Writes a line to DRAM. Returns how long the line that takes its place waits for that.
    [[gnu::always_inline]] Ticks write_dram(std::uint32_t from_llc, std::uint32_t from_node,
                                            std::uint32_t home, Ticks now, Counts& n) {
        ++n[dram_writes];
        leave(from_llc, now);
        cross(from_node, home, now, n);
        const Ticks service = machine_.memory_service[home];
        controllers_[home].take(now, service);
        return room_after(controllers_[home], service, now);
    }
    // The kernel reads a line at one home at `now` and writes it at another; returns the time when
    // it is done.
    Ticks copy(std::uint32_t from_home, std::uint32_t to_home, Ticks now, Counts& n);

  private:
    // A HyperTransport or QPI request is about this long.
    static constexpr std::uint64_t bytes_of_signal = 8;
    // Lines on their way out of an LLC domain, or to a memory controller, that delay no incoming
    // line: a round number. It sets the length of a burst without a delay, not the bandwidth.
    static constexpr Ticks lines_buffered = 64;

    // A line enters or leaves an LLC domain; returns its wait.
    [[gnu::always_inline]] Ticks enter(std::uint32_t llc, Ticks now) {
        Ticks wait = 0;
        if (machine_.fabric_write_service != 0)
            wait = room_after(fabrics_out_[llc], machine_.fabric_write_service, now);
        if (machine_.fabric_service != 0)
            wait += fabrics_[llc].take(now + wait, machine_.fabric_service);
        return wait;
    }
    [[gnu::always_inline]] Ticks leave(std::uint32_t llc, Ticks now) {
        if (machine_.fabric_write_service == 0) return 0;
        return fabrics_out_[llc].take(now, machine_.fabric_write_service);
    }
    // How long more lines than the buffers hold keep a server busy.
    static Ticks room_after(const Server& server, Ticks service, Ticks now) {
        const Ticks busy = server.busy_after(now);
        const Ticks buffered = lines_buffered * service;
        return busy > buffered ? busy - buffered : 0;
    }
    // Takes a line from one LLC to another or to a core there; returns the wait.
    Ticks carry(std::uint32_t from_llc, std::uint32_t to_llc, std::uint32_t to_node, Ticks now,
                Counts& n) {
        Ticks wait = leave(from_llc, now);
        wait += cross(node_of_llc_[from_llc], to_node, now + wait, n);
        return wait + enter(to_llc, now + wait);
    }
    // How much longer the way between two nodes is than the one within a node: as much as to their
    // memory, beside which their LLCs are.
    Ticks further(std::uint32_t node, std::uint32_t other) const {
        const std::uint32_t away = machine_.node_distance[other * machine_.topology.nodes() + node];
        return std::max(machine_.dram[away], machine_.dram[0]) - machine_.dram[0];
    }
    Ticks cross_links(std::uint32_t pair, Ticks now, Counts& n);

    const MachineModel& machine_;
    std::vector<std::uint32_t> node_of_llc_;
    std::vector<Server> controllers_, links_, fabrics_, fabrics_out_, llcs_;
};

}  // namespace autofinity::sim
