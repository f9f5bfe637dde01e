// Sharing and page use of a program's threads in its region of interest, from the whole trace
// without a replay: the knowledge of the oracle.
#pragma once

#include <vector>

#include "program.hpp"

namespace autofinity::sim {

struct WholeTrace {
    // threads × threads: over all lines, the smaller of the two threads' numbers of accesses.
    std::vector<std::uint64_t> sharing;
    std::vector<std::uint64_t> pages;     // numbers as in Program::virtual_page
    std::vector<std::uint64_t> accesses;  // pages × threads
};

// `threads`: streams. `page_bytes` is that of the machine; a larger page has the number of its
// first 4 KiB. Throws SimulationError for a stream that does not exist.
WholeTrace whole_trace(const Program& program, const std::vector<std::uint32_t>& threads,
                       std::uint32_t page_bytes);

}  // namespace autofinity::sim
