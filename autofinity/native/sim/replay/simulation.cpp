#include "simulation.hpp"

#include <algorithm>
#include <cmath>

#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

constexpr double most_ticks = 1e15;  // 38 minutes at 1.7 GHz; the order of PUs has room for 2^52

}  // namespace

Simulation::Simulation(std::shared_ptr<const MachineModel> machine, ProgramPtr program,
                       Options options)
    : machine_(std::move(machine)),
      program_(std::move(program)),
      options_(std::move(options)),
      memory_(*machine_, *program_, options_.placement, options_.seed),
      streams_(program_->streams.size()),
      pus_(machine_->topology.pus().size()),
      pus_of_slot_(memory_.most_cached_cores()),
      due_(pus_.size()),
      locks_(program_->lock_objects.size()),
      barriers_(program_->barrier_objects.size()),
      tokens_(program_->tokens.size()),
      next_of_instance_(program_->instances.size(), 0),
      tasks_(program_->instances.size()),
      runs_(program_->processes.size()),
      not_ended_(static_cast<std::uint32_t>(runs_.size())) {
    if (pus_.size() > DuePus::most_pus)
        throw SimulationError("got a machine of " + std::to_string(pus_.size()) +
                              " PUs; at most 1024 can be simulated");
    if (options_.pu_of_stream.size() != streams_.size())
        throw SimulationError("got a PU for " + std::to_string(options_.pu_of_stream.size()) +
                              " streams; the trace has " + std::to_string(streams_.size()));
    for (std::size_t i = 0; i < pus_.size(); ++i) {
        pus_[i].core = machine_->topology.core_of_pu()[i];
        pus_[i].kind = &machine_->classes[machine_->class_of_core[pus_[i].core]];
        pus_[i].instruction = pus_[i].kind->instruction;
        pus_[i].shared_instruction = static_cast<Ticks>(std::llround(
            static_cast<double>(pus_[i].kind->instruction) * pus_[i].kind->smt_slowdown));
        for (std::uint32_t other = 0; other < pus_.size(); ++other)
            if (other != i && machine_->topology.core_of_pu()[other] == pus_[i].core)
                pus_[i].siblings.push_back(other);
    }
    // Whatever the placement, simulated time must fit the order of PUs.
    double total = 0, slowest = 0;
    for (const StreamPlan& plan : program_->streams)
        total += static_cast<double>(plan.instructions);
    for (const CoreClass& kind : machine_->classes)
        slowest = std::max(slowest, static_cast<double>(kind.instruction) * kind.smt_slowdown);
    if (total * slowest * options_.repeats > most_ticks)
        throw SimulationError("the trace counts " + std::to_string(total) +
                              " instructions, more than a replay can last; is it damaged?");
    if (options_.repeats == 0)
        throw SimulationError("got a region that runs 0 times; expected once or more");
    repeats_left_ = options_.repeats - 1;
    if (repeats_left_ != 0 && runs_.size() != 1)
        throw SimulationError("got " + std::to_string(runs_.size()) +
                              " programs whose region is to be repeated; expected one");
    for (std::uint32_t process = 0; process < runs_.size(); ++process) {
        if (process < options_.starts.size()) runs_[process].start = options_.starts[process];
        const Process& of = streams_of(process);
        for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i) {
            Stream& s = streams_[i];
            s.process = process;
            s.pu = options_.pu_of_stream[i];
            if (s.pu >= pus_.size())
                throw SimulationError("stream " + std::to_string(i) + " is placed on PU " +
                                      std::to_string(s.pu) + "; the machine has " +
                                      std::to_string(pus_.size()));
        }
    }
    if (!options_.detectors.empty()) {
        detection_ = std::make_unique<Detection>(*machine_, *program_, memory_, options_.detectors,
                                                 options_.threads, overhead_);
        next_detection_ = std::min(forever, detection_->next());
    }
    if (runs_[0].start.after_previous)
        throw SimulationError("the first program cannot begin after another one");
    if (!options_.os_pus.empty()) {
        options_.os_pus.resize(streams_.size());
        for (const auto& pus : options_.os_pus)
            for (const std::uint32_t pu : pus)
                if (pu >= pus_.size())
                    throw SimulationError("a stream may run on PU " + std::to_string(pu) +
                                          "; the machine has " + std::to_string(pus_.size()));
        os_ = std::make_unique<OsScheduler>(*machine_, options_.os_pus, options_.seed);
        if (machine_->balance != 0) next_balance_ = machine_->balance;
        if (machine_->daemon != 0) next_daemon_ = os_->until_daemon();
    }
    start_due_processes(0);
}

void Simulation::check() const {
    memory_.check();
    if (machine_->skew == 0 && out_of_order_ != 0)
        throw SimulationError(std::to_string(out_of_order_) +
                              " accesses were issued after others that came later");
}

Ticks Simulation::move_page(std::uint32_t process, std::uint64_t virtual_page, std::uint32_t node) {
    if (node >= machine_->topology.nodes())
        throw SimulationError("no node " + std::to_string(node) + "; the machine has " +
                              std::to_string(machine_->topology.nodes()));
    if (machine_->home_of_node[node] != node)
        throw SimulationError("node " + std::to_string(node) + " has no memory to move pages to");
    const std::uint32_t page = program_->page_of(process, virtual_page);
    if (page == 0) return 0;
    const Moved moved = memory_.move_page(page, node, now_);
    if (!due_.empty()) split_lost_bursts(due_.first_time());
    memory_.clear_lost();
    interrupt(moved.shot_down);
    if (detection_ && moved.cost != 0) detection_->moved(page, moved.shot_down);
    // Pages that move at one instant are copied one after another, and each copy's time is its own:
    // that it stood behind those before it in a queue is their time, already paid for.
    if (moved.cost == 0) return 0;
    if (now_ != moved_at_) first_line_ = moved.first_line;
    moved_at_ = now_;
    return moved.cost - (moved.first_line - std::min(moved.first_line, first_line_));
}

// What runs on these cores stands still while they forget a translation.
void Simulation::interrupt(const CachedCores& slots) {
    for (std::uint32_t i = 0; i < pus_.size(); ++i) {
        Pu& p = pus_[i];
        if (p.stream == nobody || !due_.contains(i) ||
            !std::binary_search(slots.begin(), slots.end(), p.slot))
            continue;
        delay(i, machine_->interrupt);
        overhead_[Overhead::interrupt] += machine_->interrupt;
    }
}

void Simulation::delay(std::uint32_t pu, Ticks duration) {
    Pu& p = pus_[pu];
    p.time += duration;
    p.key += duration;
    due_.delay(pu, p.key);
}

std::int64_t Simulation::node_of_page(std::uint32_t process, std::uint64_t virtual_page) const {
    const std::uint32_t page = program_->page_of(process, virtual_page);
    if (page == 0 || !memory_.page_mapped(page)) return -1;
    return memory_.node_of_page(page);
}

}  // namespace autofinity::sim
