#include "simulation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

constexpr double most_ticks = 1e15;  // 38 minutes at 1.7 GHz; the order of PUs has room for 2^52

// Whatever the placement, simulated time must fit the order of PUs.
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
    for (const auto& pus : options.os_pus)
        for (const std::uint32_t pu : pus)
            if (pu >= machine.topology.pus().size())
                throw SimulationError("a stream may run on PU " + std::to_string(pu) +
                                      "; the machine has " +
                                      std::to_string(machine.topology.pus().size()));
    return std::make_unique<OsScheduler>(machine, options.os_pus, options.seed);
}

}  // namespace

Simulation::Simulation(std::shared_ptr<const MachineModel> machine, ProgramPtr program,
                       Options options)
    : machine_(std::move(machine)),
      program_(std::move(program)),
      memory_(*machine_, *program_, options.placement, options.seed),
      board_(*machine_, *program_, options.pu_of_stream, memory_.most_cached_cores()),
      accounting_(*machine_, memory_, board_),
      samples_(accounting_, board_, timetable_, options.sample_period),
      regions_(*program_, accounting_, board_, timetable_, options.repeats),
      siblings_(board_),
      issue_(memory_, siblings_),
      bursts_(memory_, board_, regions_),
      watching_(*machine_, *program_, memory_, board_, timetable_, options.detectors,
                options.threads),
      accesses_(*machine_, memory_, issue_, bursts_, watching_),
      cached_cores_(memory_, board_, bursts_),
      os_(scheduler(*machine_, options, board_.streams.size())),
      run_queues_(*machine_, board_, accounting_, issue_, siblings_, cached_cores_, os_.get()),
      os_events_(*machine_, board_, run_queues_, os_.get(), timetable_),
      synchroniser_(*program_, memory_, board_, issue_, accesses_, run_queues_),
      processes_(*program_, board_, timetable_, accounting_, regions_, samples_, watching_,
                 run_queues_, synchroniser_, options),
      page_moves_(*machine_, *program_, memory_, bursts_, watching_, timetable_),
      steps_(memory_, board_, issue_, bursts_, accesses_, watching_, synchroniser_, processes_),
      turns_(*machine_, memory_, board_, timetable_, accounting_, regions_, samples_, siblings_,
             issue_, watching_, run_queues_, os_events_, synchroniser_, processes_, steps_) {
    check_length(*machine_, *program_, options.repeats);
    processes_.start_due(0);
}

bool Simulation::advance(Ticks duration) {
    if (ended()) return true;
    timetable_.wanted = std::min(duration, forever);
    if (regions_.any_begun())
        timetable_.target = std::min(forever, timetable_.now + timetable_.wanted);
    timetable_.set_stop();
    return turns_.run();
}

void Simulation::bind(std::uint32_t number, std::uint32_t pu, bool stay) {
    if (number >= board_.streams.size() || pu >= board_.pus.size())
        throw SimulationError("cannot bind stream " + std::to_string(number) + " to PU " +
                              std::to_string(pu) + ": there are " +
                              std::to_string(board_.streams.size()) + " streams and " +
                              std::to_string(board_.pus.size()) + " PUs");
    Stream& s = board_.streams[number];
    if (os_ && stay) {
        os_->keep_on(number, pu);
        s.placed = true;
    }
    if (s.pu == pu) return;
    if (s.status == Status::running || s.status == Status::ready)
        watching_.spend(Overhead::thread_migration, machine_->migration);
    run_queues_.move(number, pu, timetable_.now);
    board_.order_anew();
}

void Simulation::check() const {
    memory_.check();
    if (machine_->skew == 0 && accesses_.out_of_order() != 0)
        throw SimulationError(std::to_string(accesses_.out_of_order()) +
                              " accesses were issued after others that came later");
}

std::int64_t Simulation::node_of_page(std::uint32_t process, std::uint64_t virtual_page) const {
    const std::uint32_t page = program_->page_of(process, virtual_page);
    if (page == 0 || !memory_.page_mapped(page)) return -1;
    return memory_.node_of_page(page);
}

}  // namespace autofinity::sim
