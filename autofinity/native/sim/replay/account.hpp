// Counts of a stream (accounting.cpp).
#pragma once

#include <cstdint>

#include "sim/counts.hpp"
#include "sim/memory/memory.hpp"

namespace autofinity::sim {

struct Account {
    Counts counts{};      // except those that follow from time and instructions
    Ticks accounted = 0;  // up to here the stream's time is in the account
    // Times since it came to this kind of core, and its instructions at that moment.
    Ticks run_ticks = 0, halted_ticks = 0, sync_ticks = 0, stall_ticks = 0;
    std::uint64_t settled_instructions = 0;
    Ticks barrier_ticks = 0;  // of all that waiting, at barriers, on any core
    // Counts of its earlier LLC domains, and those of the present domain when it came.
    std::uint64_t any_reads = 0, any_modifies = 0;
    LlcRequests any_seen{};
    // Values at the last sample, at the start of the region and over the whole region.
    Counts sampled{}, baseline{}, final{};
    std::uint64_t last_instructions = 0;  // at the last sample
};

}  // namespace autofinity::sim
