// Whose turn it is: the PU that is due first, until it comes to the horizon that the others set it,
// or its time slice is over.
#pragma once

#include <cstdint>

#include "accounting.hpp"
#include "board.hpp"
#include "processes.hpp"
#include "regions.hpp"
#include "samples.hpp"
#include "siblings.hpp"
#include "sim/detectors/watching.hpp"
#include "sim/threads/os_events.hpp"
#include "sim/threads/run_queues.hpp"
#include "sim/threads/synchroniser.hpp"
#include "steps.hpp"
#include "timetable.hpp"

namespace autofinity::sim {

class Turns {
  public:
    Turns(const MachineModel& machine, Memory& memory, Board& board, Timetable& timetable,
          Accounting& accounting, Regions& regions, Samples& samples, Siblings& siblings,
          Issue& issue, Watching& watching, RunQueues& run_queues, OsEvents& os_events,
          Synchroniser& synchroniser, Processes& processes, Steps& steps)
        : machine_(machine),
          memory_(memory),
          board_(board),
          timetable_(timetable),
          accounting_(accounting),
          regions_(regions),
          samples_(samples),
          siblings_(siblings),
          issue_(issue),
          watching_(watching),
          run_queues_(run_queues),
          os_events_(os_events),
          synchroniser_(synchroniser),
          processes_(processes),
          steps_(steps) {}

    // Until the timetable's target, or the end of all regions: whether it came to that.
    bool run();

  private:
    // `watched`: there are detectors to be told.
    template <bool watched>
    bool run_to_target();
    template <bool watched>
    void run_pu(std::uint32_t index, Ticks horizon);
    void end_slice(std::uint32_t index);
    void stop();

    const MachineModel& machine_;
    Memory& memory_;
    Board& board_;
    Timetable& timetable_;
    Accounting& accounting_;
    Regions& regions_;
    Samples& samples_;
    Siblings& siblings_;
    Issue& issue_;
    Watching& watching_;
    RunQueues& run_queues_;
    OsEvents& os_events_;
    Synchroniser& synchroniser_;
    Processes& processes_;
    Steps& steps_;
    std::uint32_t idle_slices_ = 0;  // slices in a row in which nothing was done
};

}  // namespace autofinity::sim
