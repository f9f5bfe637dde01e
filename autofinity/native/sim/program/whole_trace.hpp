// What a program's threads share and touch in its region of interest, from the whole trace and
// without replaying it: what the oracle knows.
#pragma once

#include <vector>

#include "program.hpp"

namespace autofinity::sim {

struct WholeTrace {
    // threads × threads: over all lines, the accesses of the one of the two that has fewer.
    std::vector<std::uint64_t> sharing;
    std::vector<std::uint64_t> pages;     // numbers as in Program::virtual_page
    std::vector<std::uint64_t> accesses;  // pages × threads
};

// `threads`: streams. `page_bytes` as a machine has them; a larger page has the number of its first
// 4 KiB. Throws SimulationError for a stream that does not exist.
WholeTrace whole_trace(const Program& program, const std::vector<std::uint32_t>& threads,
                       std::uint32_t page_bytes);

}  // namespace autofinity::sim
