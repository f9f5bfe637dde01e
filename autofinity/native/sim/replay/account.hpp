// What has been counted of a stream (accounting.cpp).
#pragma once

#include <cstdint>

#include "sim/counts.hpp"
#include "sim/memory/memory.hpp"

namespace autofinity::sim {

struct Account {
    Counts counts{};      // but for those that follow from time and instructions
    Ticks accounted = 0;  // up to here the stream's time is in the account
    // Since it came to this kind of core, and the instructions it had then.
    Ticks run_ticks = 0, halted_ticks = 0, sync_ticks = 0, stall_ticks = 0;
    std::uint64_t settled_instructions = 0;
    Ticks barrier_ticks = 0;  // of all that waiting, at barriers, on any core
    // Of the LLC domains it was in, and what its present one had when it came.
    std::uint64_t any_reads = 0, any_modifies = 0;
    LlcRequests any_seen{};
    // Values at the last sample, at the start of the region and in all of it.
    Counts sampled{}, baseline{}, final{};
    std::uint64_t last_instructions = 0;  // at the last sample
};

}  // namespace autofinity::sim
