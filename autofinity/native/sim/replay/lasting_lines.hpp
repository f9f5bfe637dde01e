// Which lines of a window's snapshots are still in a cache when the window begins.
//
// A line leaves a set once as many others have come to it as the set has ways (true LRU). So the
// touches are visited from the newest to the oldest, and each set takes lines until it is full:
// first the sets of the core, then those of its LLC. Everything older has left all caches, and is
// never brought in. Only the touches that are left cost more than a look.
#pragma once

#include <cstdint>
#include <vector>

#include "board.hpp"
#include "sim/machine.hpp"
#include "sim/memory/memory.hpp"
#include "sim/program/program.hpp"

namespace autofinity::sim {

// A touch whose line has stayed.
class LastingTouch {
  public:
    // `number`: of the touch in the program's list. `in_core`: the line is in an L1 or L2, not only
    // in the LLC. `translates`: it is the core's newest touch of the page, so that a TLB may still
    // have the page, and a cache the entry of the page table.
    LastingTouch(std::uint32_t number, bool in_core, bool translates)
        : bits_(std::uint64_t{number} << 2 | std::uint64_t{in_core} << 1 | translates) {}

    std::uint32_t number() const { return static_cast<std::uint32_t>(bits_ >> 2); }
    bool in_core() const { return (bits_ >> 1 & 1) != 0; }
    bool translates() const { return (bits_ & 1) != 0; }

  private:
    std::uint64_t bits_;
};

// Newest first. Each stream is on its PU, and all pages are placed.
std::vector<LastingTouch> lasting_touches(const MachineModel& machine, const Program& program,
                                          const Memory& memory, const Board& board);

}  // namespace autofinity::sim
