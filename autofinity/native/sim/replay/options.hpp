// Options of a run: places of the streams, starts of the processes, detectors.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/detectors/detectors.hpp"
#include "sim/machine.hpp"
#include "sim/memory/pages.hpp"

namespace autofinity::sim {

// When a process of the program begins.
struct Start {
    Ticks at = 0;
    bool after_previous = false;  // when the process before it has ended
};

struct Options {
    std::vector<std::uint32_t> pu_of_stream;
    std::vector<Start> starts;  // of the processes; missing ones begin at 0
    // PUs that the operating system may run each stream on; an empty list for a stream means all,
    // no lists at all mean that streams are bound to `pu_of_stream`.
    std::vector<std::vector<std::uint32_t>> os_pus;
    bool restart = false;  // a process that ends before the others begins again, uncounted
    // Number of times that the region of interest runs, for a program of one process: again from
    // its beginning, with the caches and pages that the last time left.
    std::uint32_t repeats = 1;
    Ticks sample_period = 0;  // 0: no samples but the last
    std::uint64_t seed = 0;
    PageSettings pages;
    std::vector<Detector> detectors;
    std::vector<std::uint32_t> threads;  // streams that detectors know as threads 0, 1, …
};

}  // namespace autofinity::sim
