// What accesses tell the simulation: when they are served, and who lost a line for them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine.hpp"
#include "ways.hpp"

namespace autofinity::sim {

// What an access cost, and whether it can overlap with what follows: a line that another core had
// taken away, or that others must give up, is waited for.
struct Served {
    Ticks ready;
    bool contended;
    std::uint8_t supplied;  // 1 + distance of the cache that the line came from; 0: none
};

using Slots = std::vector<std::uint32_t>;  // in order

// A core lost a line, or the right to write it: to another one, or for want of room.
struct Lost {
    std::uint32_t slot;
    Line line;
    bool only_write;
};

}  // namespace autofinity::sim
