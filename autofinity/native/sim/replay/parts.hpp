// The parts of a replay. Each has its own data and knows only the parts before it; it returns data
// for later parts.
#pragma once

#include <memory>

#include "accesses.hpp"
#include "accounting.hpp"
#include "board.hpp"
#include "bursts.hpp"
#include "issue.hpp"
#include "options.hpp"
#include "page_moves.hpp"
#include "processes.hpp"
#include "regions.hpp"
#include "samples.hpp"
#include "siblings.hpp"
#include "sim/detectors/watching.hpp"
#include "sim/memory/memory.hpp"
#include "sim/program/program.hpp"
#include "sim/threads/cached_cores.hpp"
#include "sim/threads/os_events.hpp"
#include "sim/threads/os_scheduler.hpp"
#include "sim/threads/run_queues.hpp"
#include "sim/threads/synchroniser.hpp"
#include "timetable.hpp"
#include "warm_start.hpp"

namespace autofinity::sim {

struct Parts {
    // Throws SimulationError for options that do not fit machine and program.
    Parts(std::shared_ptr<const MachineModel> machine_of, ProgramPtr program_of, Options options);
    Parts(const Parts&) = delete;  // they know each other by address
    Parts& operator=(const Parts&) = delete;

    const std::shared_ptr<const MachineModel> machine;
    const ProgramPtr program;
    Memory memory;
    Board board;          // streams and PUs, and which is due
    Timetable timetable;  // what else is due
    Accounting accounting;
    Samples samples;
    Regions regions;
    Siblings siblings;
    Issue issue;
    Bursts bursts;
    Watching watching;
    Accesses accesses;
    CachedCores cached_cores;
    const std::unique_ptr<OsScheduler> os;  // none: streams are bound
    RunQueues run_queues;
    OsEvents os_events;
    Synchroniser synchroniser;
    Processes processes;
    PageMoves page_moves;
    WarmStart warm_start;
};

}  // namespace autofinity::sim
