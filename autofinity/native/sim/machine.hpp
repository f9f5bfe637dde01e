// A machine as the simulator sees it: its topology, geometry, and every latency in ticks.
//
// The Python side (autofinity/sim/native.py) converts them from nanoseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/types.hpp"
#include "topology/machine.hpp"

namespace autofinity::sim {

// Distance class of two LLC domains or two nodes: 0 the same, 1 the same package, 2 and up further.
// For LLC domains these are other packages, for nodes also further nodes of a package.
inline constexpr std::size_t max_distances = 6;
using ByDistance = std::array<Ticks, max_distances>;

struct CacheShape {
    std::uint32_t sets = 0;
    std::uint32_t ways = 0;
};

// Stream prefetcher: `trigger` L1 misses in a row in one direction within 4 KiB start a stream,
// whose later misses fetch up to `degree` lines each, up to `distance` lines ahead.
struct PrefetchShape {
    std::uint32_t streams = 0;  // 0: no prefetcher
    std::uint32_t trigger = 2;
    std::uint32_t distance = 0;
    std::uint32_t degree = 0;
    std::uint32_t in_flight = 1;  // lines on their way at once
};

// Private parts of a kind of core: caches, TLBs, prefetcher.
struct PrivateSide {
    CacheShape l1, l2;          // an L2 of no ways: the core has none
    bool l2_exclusive = false;  // L1 and L2 hold different lines (AMD K10)
    CacheShape tlb1, tlb2;      // one set: fully associative (tlb1); no ways: none (tlb2)
    PrefetchShape prefetch;
    Ticks l1_hit = 0;
    Ticks l2_hit = 0;
    Ticks tlb2_hit = 0;
    Ticks page_walk = 0;             // without the access that reads the page-table entry
    bool walk_reads_caches = false;  // otherwise there is no such access
    Ticks page_fault = 0;
};

// A kind of core; a hybrid machine has several. One instruction takes the time of its base IPC at
// its own clock; latencies in ticks are of the memory system and the same for all.
struct CoreClass {
    Ticks instruction = ticks_per_clock;  // one instruction at the base IPC
    double clock_ratio = 1.0;             // its clocks in one clock of the machine
    std::uint32_t misses_in_flight = 8;
    std::uint32_t window = 72;  // instructions that can be issued past an unfinished miss
    double uops_per_instruction = 1.0;
    // While a sibling has a thread, too:
    double smt_slowdown = 1.0;       // factor on `instruction` as long as both issue
    std::uint32_t smt_window = 72;   // the window of each
    bool smt_shares_misses = false;  // otherwise each has `misses_in_flight`
    PrivateSide side;
};

struct MachineModel {
    explicit MachineModel(autofinity::topology::Machine of) : topology(std::move(of)) {}

    // PUs of one core share its private caches and TLBs; cores of one L2 are of one class.
    autofinity::topology::Machine topology;
    std::vector<std::uint32_t> class_of_core;
    std::vector<CoreClass> classes;
    std::vector<std::uint8_t> llc_distance;   // llcs × llcs
    std::vector<std::uint8_t> node_distance;  // nodes × nodes

    double ghz = 1.0;  // of the first kind of core: the machine's clock

    CacheShape llc;
    bool llc_inclusive = false;     // otherwise a victim cache of the L2s
    bool llc_by_home = false;       // sub-NUMA clusters: an LLC has the lines of its node's memory
    bool owned_state = false;       // MOESI: sockets share a Modified line unwritten
    bool clean_forwarding = false;  // MESIF: a clean line comes from the cache that got it last

    // Probe filter of a home node: lines that caches can hold at once; no ways: unlimited.
    CacheShape directory;

    std::uint32_t page_bytes = 4096;          // 4 KiB, 16 KiB or 2 MiB
    std::vector<std::uint32_t> home_of_node;  // itself, or the nearest node that has memory

    // Idle latencies, load to use.
    Ticks llc_hit = 0;
    ByDistance dram{};
    ByDistance load_modified{};
    ByDistance load_shared{};
    ByDistance store_modified{};
    ByDistance store_shared{};
    ByDistance atomic_modified{};
    ByDistance atomic_shared{};
    Ticks atomic_hit = 0;

    // Bandwidth: ticks that one line keeps the server busy; 0 is unlimited.
    std::vector<Ticks> memory_service;  // controllers of a node
    std::vector<Ticks> link_service;    // of a directed link
    // Directed links that a line passes from node a to node b: `route_links` from `route_begin[a *
    // nodes + b]` to the next begin.
    std::vector<std::uint32_t> route_begin, route_links;
    Ticks fabric_service = 0;        // into an LLC domain from all parts outside it
    Ticks fabric_write_service = 0;  // out of it
    Ticks llc_service = 0;           // from an LLC to the cores of its domain

    // Operating system.
    Ticks time_slice = 0;
    Ticks context_switch = 0;
    Ticks spin = 0;  // a wait shorter than this needs no wake-up
    Ticks wake = 0;
    Ticks migration = 0;
    Ticks balance = 0;    // between balancings of threads that are not bound
    Ticks cache_hot = 0;  // so long after it ran, a waiting thread is not pulled elsewhere
    Ticks daemon = 0;     // mean time between system threads on a PU; 0: none
    Ticks shootdown = 0;  // of the core that moves a page: notifying the others
    Ticks interrupt = 0;  // of each core that had its translation: the notification

    Ticks skew = 0;  // how far cores may run ahead of the slowest: an experiment
};

// Whether some core shares its L2 with another core.
bool has_shared_l2(const MachineModel& machine);

// Throws SimulationError for a machine that cannot be simulated. One that passed cannot make the
// core read out of bounds.
void validate(const MachineModel& machine);

}  // namespace autofinity::sim
