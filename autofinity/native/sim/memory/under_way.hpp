// What is under way: what a core, or the kernel on it, does to the caches, and what has come of it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/counts.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

struct UnderWay {
    Ticks now = 0;
    Counts* counts;             // of who acts
    std::uint8_t supplied = 0;  // to the latest fetch, as in Served
    std::vector<Lost> lost{};   // since somebody has looked
    Walk walk{};                // the latest one, likewise
};

}  // namespace autofinity::sim
