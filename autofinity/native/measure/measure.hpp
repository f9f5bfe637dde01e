// Measurements. Every function runs pinned threads of its own and gives one value for each round,
// so that the caller sees the spread; none takes much longer than its rounds need.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/place.hpp"

namespace autofinity::measure {

using Samples = std::vector<double>;

// A pointer chase over lines in random order.
struct Chase {
    std::size_t lines;
    std::size_t stride_bytes;  // from line to line; of a page stride the line in the page varies
    int node = any_node;
    Pages pages = Pages::large;
    int chains = 1;  // pointers followed side by side: their misses overlap
};
inline constexpr int most_chains = 32;

// Nanoseconds for each load.
Samples chase_ns(int cpu, const Chase& chase, int rounds);

// Gigahertz: a chain of dependent additions of registers, one a clock on every core we know.
Samples clock_ghz(int cpu, int rounds);

// Nanoseconds of an atomic addition to a line that the core owns.
Samples atomic_ns(int cpu, int rounds);

// Nanoseconds of a first write to a page of the base size.
Samples page_fault_ns(int cpu, int rounds);

// Nanoseconds that a line takes from core to core: half a round trip of compare-and-swap.
Samples handover_ns(int cpu, int other_cpu, int rounds);

// Nanoseconds from one thread to another on one CPU when the first yields. Rounds without an
// observation (the other thread never ran) have no value; this holds for the functions below, too.
Samples switch_ns(int cpu, int rounds);

// Nanoseconds from a thread to another that it wakes through a pipe, and then waits for, on one
// CPU.
Samples wake_and_switch_ns(int cpu, int rounds);

// Nanoseconds of moving the calling thread to another CPU.
Samples move_ns(int cpu, int other_cpu, int rounds);

// Gigabytes (10^9) a second that the CPUs read together, each from a buffer of its own on `node`.
Samples read_gbs(const std::vector<int>& cpus, int node, std::size_t bytes_each, int rounds);

}  // namespace autofinity::measure
