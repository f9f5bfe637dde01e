// Which touches of a window's snapshots still matter to the caches when the window begins.
//
// A line leaves a set once as many others have come to it as the set has ways (true LRU). So the
// touches are visited from the newest to the oldest, and each set takes lines while it has room:
// first the sets of the core, then those of its LLC. Lines that find no room have left all caches,
// and are never brought in.
#pragma once

#include <cstdint>
#include <vector>

#include "board.hpp"
#include "sim/machine.hpp"
#include "sim/memory/memory.hpp"
#include "sim/program/program.hpp"

namespace autofinity::sim {

// The caches that a touch still reaches.
enum class Reach : std::uint8_t {
    core,  // the line, into the core's L1 and L2; it may leave them for later ones
    llc,   // the line, into the LLC of the core: it has left the core
    page,  // only the translation of its page: the line has left all caches
};

class LastingTouch {
  public:
    // `number`: of the touch in the program's list. `translates`: it is the core's newest touch of
    // the page, so that a TLB may still have the page, and a cache the entry of the page table.
    LastingTouch(std::uint32_t number, Reach reach, bool translates)
        : number_(number), reach_(reach), translates_(translates) {}

    std::uint32_t number() const { return number_; }
    Reach reach() const { return reach_; }
    bool translates() const { return translates_; }

  private:
    std::uint32_t number_;
    Reach reach_;
    bool translates_;
};
static_assert(sizeof(LastingTouch) == 8);

// Newest first. Each stream is on its PU, and all pages are placed.
std::vector<LastingTouch> lasting_touches(const MachineModel& machine, const Program& program,
                                          const Memory& memory, const Board& board);

}  // namespace autofinity::sim
