#include "machine.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "error.hpp"
#include "sim/memory/units.hpp"
#include "sim/program/program.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint32_t most_llcs = 32;  // bits of a line's entry in the directory

void need(bool good, const char* what) {
    if (!good) throw SimulationError(std::string("bad machine: ") + what);
}

bool array_fits(CacheShape shape) {
    return shape.sets > 0 && shape.sets <= 1u << 22 && shape.ways <= 128;
}

void validate_private_side(const PrivateSide& side) {
    need(array_fits(side.l1) && array_fits(side.l2) && array_fits(side.tlb2) && side.l1.ways > 0,
         "a cache or TLB has no sets, no ways or more than 128 ways");
    need(std::has_single_bit(side.l1.sets) && side.l1.sets <= 1u << group_shift,
         "the L1 must have a power of two of at most 512 sets");
    need(side.tlb1.sets > 1 ? array_fits(side.tlb1) : side.tlb1.sets == 1 && side.tlb1.ways < 255,
         "a fully associative first TLB has at most 254 entries");
    need(side.tlb1.ways > 0, "there is no first-level TLB");
    need(side.prefetch.streams <= 256, "a prefetcher has at most 256 streams");
}

void validate_l2s(const MachineModel& m) {
    const auto& l2_of_core = m.topology.l2_of_core();
    const std::size_t cores = m.topology.cores();
    std::vector<std::size_t> first(cores, cores);
    for (std::size_t core = 0; core < cores; ++core) {
        need(l2_of_core[core] < cores, "there are more L2s than cores");
        std::size_t& other = first[l2_of_core[core]];
        if (other == cores) {
            other = core;
            continue;
        }
        need(m.class_of_core[core] == m.class_of_core[other] &&
                 m.topology.llc_of_core()[core] == m.topology.llc_of_core()[other] &&
                 m.topology.node_of_core()[core] == m.topology.node_of_core()[other],
             "cores that share an L2 differ in class, LLC domain or node");
        const PrivateSide& side = m.classes[m.class_of_core[core]].side;
        need(side.l2.ways != 0 && !side.l2_exclusive,
             "cores share an L2 that is exclusive of their L1s, or not there");
    }
}

void validate_llcs_by_home(const MachineModel& m) {
    need(!m.llc_inclusive && !m.owned_state,
         "an LLC that has lines by their home includes no L2s, and has no state O");
    std::vector<std::uint32_t> llc_of_node(m.topology.nodes(), most_llcs);
    for (std::size_t core = 0; core < m.topology.cores(); ++core) {
        std::uint32_t& llc = llc_of_node[m.topology.node_of_core()[core]];
        if (llc == most_llcs) llc = m.topology.llc_of_core()[core];
        need(llc == m.topology.llc_of_core()[core],
             "LLCs have lines by their home although a node has several");
    }
}

// Checks nodes, links and the states of lines in caches.
void validate_memory(const MachineModel& m) {
    const std::uint32_t nodes = m.topology.nodes();
    need(array_fits(m.llc) && m.llc.ways > 0, "the LLC has no sets, no ways or more than 128 ways");
    need(m.directory.ways == 0 || array_fits(m.directory), "the directory is too large");
    for (const CoreClass& kind : m.classes) validate_private_side(kind.side);
    need(m.page_bytes == 4096 || m.page_bytes == 16384 || m.page_bytes == Units::large,
         "pages have 4 KiB, 16 KiB or 2 MiB");
    need(m.home_of_node.size() == nodes && m.memory_service.size() == nodes,
         "not every node has a home and a controller");
    for (const auto home : m.home_of_node)
        need(home < nodes && m.home_of_node[home] == home, "a home node has no memory");
    need(m.route_begin.size() == std::size_t{nodes} * nodes + 1 &&
             m.route_begin.back() == m.route_links.size() &&
             std::is_sorted(m.route_begin.begin(), m.route_begin.end()),
         "not every pair of nodes has a route");
    for (std::uint32_t node = 0; node < nodes; ++node) {
        const std::size_t own = node * (std::size_t{nodes} + 1);
        need(m.route_begin[own] == m.route_begin[own + 1], "a route leads from a node to itself");
    }
    for (const auto link : m.route_links)
        need(link < m.link_service.size(), "a route passes an unknown link");
}

}  // namespace

bool has_shared_l2(const MachineModel& machine) {
    std::vector<std::uint32_t> l2s = machine.topology.l2_of_core();
    std::sort(l2s.begin(), l2s.end());
    return std::adjacent_find(l2s.begin(), l2s.end()) != l2s.end();
}

void validate(const MachineModel& m) {
    const std::size_t cores = m.topology.cores();
    const std::size_t llcs = m.topology.llcs();
    const std::size_t nodes = m.topology.nodes();
    need(cores > 0, "it has no core");
    if (llcs > most_llcs)
        throw SimulationError("got a machine of " + std::to_string(llcs) + " LLC domains; 1 to " +
                              std::to_string(most_llcs) + " can be simulated");
    need(nodes <= 1024, "1 to 1024 nodes can be simulated");
    need(m.llc_distance.size() == llcs * llcs, "llc_distance is not square");
    need(m.node_distance.size() == nodes * nodes, "node_distance is not square");
    for (const auto d : m.llc_distance) need(d < max_distances, "a distance class is above 5");
    for (const auto d : m.node_distance) need(d < max_distances, "a distance class is above 5");
    validate_memory(m);
    if (m.llc_by_home) validate_llcs_by_home(m);
    need(m.class_of_core.size() == cores, "not every core has a class");
    for (const auto kind : m.class_of_core) need(kind < m.classes.size(), "a core is of no class");
    validate_l2s(m);
    for (const CoreClass& kind : m.classes) {
        need(kind.instruction > 0, "the base IPC is not a positive number");
        need(kind.misses_in_flight > 0 && kind.misses_in_flight <= 32,
             "1 to 32 misses can be in flight");
        need(kind.clock_ratio > 0 && kind.smt_slowdown >= 1,
             "the clock or the SMT factor is out of range");
        need(kind.smt_window <= kind.window, "the window of one of several threads is the larger");
    }
    need(m.ghz > 0, "the clock is not a positive number");
}

}  // namespace autofinity::sim
