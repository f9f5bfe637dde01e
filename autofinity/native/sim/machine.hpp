// A machine as the simulator sees it: dense indices, geometry, and every latency in ticks.
//
// One tick is 1/256 of a clock of the first kind of core, so that an IPC of 1.5 or a latency of
// 40.3 clocks keeps its fraction. The Python side (autofinity/sim/native.py) converts from
// nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace autofinity::sim {

using Ticks = std::uint64_t;
inline constexpr Ticks ticks_per_clock = 256;
inline constexpr std::uint64_t clocks(Ticks ticks) { return ticks / ticks_per_clock; }

// Distance of two LLC domains or two nodes: 0 the same, 1 the same package, 2 one hop, 3 two hops.
inline constexpr std::size_t n_distances = 4;
using ByDistance = std::array<Ticks, n_distances>;

struct CacheShape {
    std::uint32_t sets = 0;
    std::uint32_t ways = 0;
};

// A kind of core; a hybrid machine has several. One instruction takes the time of its base IPC at
// its own clock; latencies in ticks are of the memory system and the same for all.
struct CoreClass {
    Ticks instruction = ticks_per_clock;  // one instruction at the base IPC
    double clock_ratio = 1.0;             // its clocks in one clock of the machine
    std::uint32_t misses_in_flight = 8;
    std::uint32_t window = 72;  // instructions that can be issued past an unfinished miss
    double uops_per_instruction = 1.0;
    double smt_slowdown = 1.0;  // factor on `instruction` while siblings issue too
};

struct Machine {
    // Topology. A PU is a hardware thread; PUs of one core share its private caches and TLBs.
    std::vector<std::uint32_t> core_of_pu;
    std::vector<std::uint32_t> llc_of_core;
    std::vector<std::uint32_t> node_of_core;
    std::vector<std::uint32_t> class_of_core;
    std::vector<CoreClass> classes;
    std::uint32_t llcs = 0;
    std::uint32_t nodes = 0;
    std::vector<std::uint8_t> llc_distance;   // llcs × llcs
    std::vector<std::uint8_t> node_distance;  // nodes × nodes

    double ghz = 1.0;  // of the first kind of core: the machine's clock

    CacheShape l1, l2, llc;
    bool l2_exclusive = false;      // L1 and L2 hold different lines (AMD K10)
    bool llc_inclusive = false;     // otherwise a victim cache of the L2s
    bool owned_state = false;       // MOESI: a Modified line is shared without a write-back
    bool clean_forwarding = false;  // MESIF: a clean line comes from the nearest cache, not memory

    // Translation.
    std::uint32_t tlb1_entries = 48;
    CacheShape tlb2;
    Ticks tlb2_hit = 0;
    Ticks page_walk = 0;
    Ticks page_fault = 0;

    // Idle latencies, load to use.
    Ticks l1_hit = 0;
    Ticks l2_hit = 0;
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
    Ticks memory_service = 0;   // controller of a node
    ByDistance link_service{};  // ordered pair of nodes, by distance
    Ticks fabric_service = 0;   // between an LLC domain and everything outside it

    // Operating system.
    Ticks time_slice = 0;
    Ticks context_switch = 0;
    Ticks spin = 0;  // a wait shorter than this needs no wake-up
    Ticks wake = 0;
    Ticks migration = 0;

    Ticks skew = ticks_per_clock;  // how far ordered accesses may run ahead of the slowest core
};

}  // namespace autofinity::sim
