// Cores that have caches in the simulation: at most as many at a time as Memory has room for.
#pragma once

#include "sim/memory/memory.hpp"
#include "sim/replay/board.hpp"
#include "sim/replay/bursts.hpp"

namespace autofinity::sim {

class CachedCores {
  public:
    CachedCores(Memory& memory, Board& board, Bursts& bursts)
        : memory_(memory), board_(board), bursts_(bursts) {}

    // A PU that is to run something has caches from now on.
    void admit(std::uint32_t pu);

  private:
    void make_room();

    Memory& memory_;
    Board& board_;
    Bursts& bursts_;
};

}  // namespace autofinity::sim
