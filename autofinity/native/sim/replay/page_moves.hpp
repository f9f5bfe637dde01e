// Pages that a mechanism moves to other nodes while a program runs.
#pragma once

#include <cstdint>

#include "bursts.hpp"
#include "sim/detectors/watching.hpp"
#include "sim/memory/memory.hpp"
#include "sim/program/program.hpp"
#include "timetable.hpp"

namespace autofinity::sim {

class PageMoves {
  public:
    PageMoves(const MachineModel& machine, const Program& program, Memory& memory, Bursts& bursts,
              Watching& watching, const Timetable& timetable)
        : machine_(machine),
          program_(program),
          memory_(memory),
          bursts_(bursts),
          watching_(watching),
          timetable_(timetable) {}

    // Returns the cost to the thread that moves the page, in ticks: 0 when it is there already or
    // not yet touched. Throws SimulationError for a node without memory.
    Ticks move(std::uint32_t process, std::uint64_t virtual_page, std::uint32_t node);

  private:
    const MachineModel& machine_;
    const Program& program_;
    Memory& memory_;
    Bursts& bursts_;
    Watching& watching_;
    const Timetable& timetable_;
    // Time of the last move of a page, and the time of its first line then.
    Ticks moved_at_ = forever, first_line_ = 0;
};

}  // namespace autofinity::sim
