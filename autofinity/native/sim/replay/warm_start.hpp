// A window of a longer run begins with the pages, caches and TLBs that the run had left there.
#pragma once

#include "board.hpp"
#include "sim/machine.hpp"
#include "sim/memory/memory.hpp"
#include "sim/program/program.hpp"
#include "sim/threads/cached_cores.hpp"

namespace autofinity::sim {

class WarmStart {
  public:
    WarmStart(const MachineModel& machine, const Program& program, Memory& memory, Board& board,
              CachedCores& cached_cores)
        : machine_(machine),
          program_(program),
          memory_(memory),
          board_(board),
          cached_cores_(cached_cores) {}

    // Before any stream begins: restores the whole beginning of the program, each stream on its PU.
    void warm();

    // After the lead of the window, which shows its effect on LLCs that take the lines leaving the
    // cores.
    void settle_llcs();

  private:
    std::uint32_t core_of(std::uint32_t stream) const {
        return board_.pus[board_.streams[stream].pu].core;
    }
    void place_pages();
    void touch_lines();

    const MachineModel& machine_;
    const Program& program_;
    Memory& memory_;
    Board& board_;
    CachedCores& cached_cores_;
};

}  // namespace autofinity::sim
