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

    // Returns what it costs who moves the page, in ticks: 0 when it is there already or not yet
    // touched. Throws SimulationError for a node without memory.
    Ticks move(std::uint32_t process, std::uint64_t virtual_page, std::uint32_t node);

  private:
    const MachineModel& machine_;
    const Program& program_;
    Memory& memory_;
    Bursts& bursts_;
    Watching& watching_;
    const Timetable& timetable_;
    // When a page was last moved, and how long the first line of the first one then took.
    Ticks moved_at_ = forever, first_line_ = 0;
};

}  // namespace autofinity::sim
