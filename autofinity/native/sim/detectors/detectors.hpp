// Descriptions of detectors. The meaning of the fields, and their papers, are in
// autofinity/model/detection.py.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

namespace autofinity::sim {

struct FaultSampling {
    enum class Table : std::uint8_t { none, blocks, sub_blocks };
    double share_per_s = 0.1, round_ns = 1e6;
    Table table = Table::blocks;
    std::uint32_t block_bytes = 256, entries = 1u << 20, sharers = 2;
    std::uint32_t most_counted = 255;
    bool halve_on_move = false;
    double fault_ns = 0, update_ns = 0;
};

struct HintingFaults {
    double scan_period_ns = 1e9;
    std::uint64_t scan_bytes = 256u << 20;
    double fault_ns = 0;
};

struct TlbAccessCounters {
    bool in_page_table = false;
    std::uint32_t most_accesses = 0xFFFFFFFF;  // value at which AC is full
    std::uint32_t sharers = 2;
    std::uint32_t most_counted = 15, v_add = 2, numa_threshold = 10;
};

struct TlbMatching {
    enum class Trigger : std::uint8_t { time, global_misses, local_misses, shared_pages };
    Trigger trigger = Trigger::local_misses;
    double period_ns = 1e7;
    std::optional<std::uint64_t> misses;
    double misses_scale = 1, most_share = 1;
    double entry_cycles = 20, compare_cycles = 1;
};

struct RemoteAccesses {
    std::uint64_t period = 10;
    std::uint32_t block_bytes = 64, entries = 1u << 20, sharers = 2;
    double sample_ns = 0;
};

struct AccessSampling {
    bool long_loads = false;
    std::uint64_t period = 10000;
    double least_latency_ns = 0;
    std::uint64_t pages = 30000;
    double sample_ns = 0;
};

using Detector = std::variant<FaultSampling, HintingFaults, TlbAccessCounters, TlbMatching,
                              RemoteAccesses, AccessSampling>;

}  // namespace autofinity::sim
