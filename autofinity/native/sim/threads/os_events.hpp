// Periodic actions of the operating system's scheduler: balancing, and system threads that take a
// PU.
#pragma once

#include <cstdint>

#include "os_scheduler.hpp"
#include "run_queues.hpp"
#include "sim/replay/board.hpp"
#include "sim/replay/timetable.hpp"

namespace autofinity::sim {

class OsEvents {
  public:
    // `os`: none, and no event ever happens.
    OsEvents(const MachineModel& machine, Board& board, RunQueues& run_queues, OsScheduler* os,
             Timetable& timetable);

    // Carries out the due actions, and sets their next times.
    void act(Ticks at);

  private:
    void carry_out(const OsScheduler::Move& wanted, Ticks at);

    const MachineModel& machine_;
    Board& board_;
    RunQueues& run_queues_;
    OsScheduler* os_;
    Timetable& timetable_;
    std::uint64_t balance_tick_ = 0;
};

}  // namespace autofinity::sim
