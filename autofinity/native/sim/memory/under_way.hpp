// The present operation of a core, or of the kernel on it, on the caches, and its results.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/counts.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

struct UnderWay {
    Ticks now = 0;
    Ticks room = 0;  // when memory has room for the lines that were written back meanwhile
    Counts* counts;  // counts of the acting stream
    std::uint8_t supplied = 0;  // to the latest fetch, as in Served
    std::vector<Lost> lost{};   // since they were last read
    Walk walk{};                // the latest one, likewise
};

}  // namespace autofinity::sim
