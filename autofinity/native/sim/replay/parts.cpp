#include "parts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

constexpr double most_ticks = 1e15;  // 38 minutes at 1.7 GHz; the order of PUs has room for 2^52

// Checks that, for every placement, simulated time fits the order of PUs.
void check_length(const MachineModel& machine, const Program& program, std::uint32_t repeats) {
    double total = 0, slowest = 0;
    for (const StreamPlan& plan : program.streams) total += static_cast<double>(plan.instructions);
    for (const CoreClass& kind : machine.classes)
        slowest = std::max(slowest, static_cast<double>(kind.instruction) * kind.smt_slowdown);
    if (total * slowest * repeats > most_ticks)
        throw SimulationError("the trace counts " + std::to_string(total) +
                              " instructions, more than a replay can last; is it damaged?");
}

std::unique_ptr<OsScheduler> scheduler(const MachineModel& machine, Options& options,
                                       std::size_t streams) {
    if (options.os_pus.empty()) return nullptr;
    options.os_pus.resize(streams);
    const std::size_t there = machine.topology.pus().size();
    for (const auto& pus : options.os_pus)
        for (const std::uint32_t pu : pus)
            if (pu >= there)
                throw SimulationError("a stream may run on PU " + std::to_string(pu) +
                                      "; the machine has " + std::to_string(there));
    return std::make_unique<OsScheduler>(machine, options.os_pus, options.seed);
}

}  // namespace

Parts::Parts(std::shared_ptr<const MachineModel> machine_of, ProgramPtr program_of, Options options)
    : machine(std::move(machine_of)),
      program(std::move(program_of)),
      memory(*machine, *program, std::move(options.pages), options.seed),
      board(*machine, *program, options.pu_of_stream, memory.most_cached_cores()),
      accounting(*machine, memory, board),
      samples(accounting, board, timetable, options.sample_period),
      regions(*program, accounting, board, timetable, options.repeats),
      siblings(board),
      issue(memory, siblings),
      bursts(memory, board, regions),
      watching(*machine, *program, memory, board, timetable, options.detectors, options.threads),
      accesses(*machine, memory, issue, bursts, watching),
      cached_cores(memory, board, bursts),
      os(scheduler(*machine, options, board.streams.size())),
      run_queues(*machine, board, accounting, issue, siblings, cached_cores, os.get()),
      os_events(*machine, board, run_queues, os.get(), timetable),
      synchroniser(*program, memory, board, issue, accesses, run_queues),
      processes(*program, board, timetable, accounting, regions, samples, watching, run_queues,
                synchroniser, options),
      page_moves(*machine, *program, memory, bursts, watching, timetable),
      warm_start(*machine, *program, memory, board, cached_cores) {
    check_length(*machine, *program, options.repeats);
}

}  // namespace autofinity::sim
