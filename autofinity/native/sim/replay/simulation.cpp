#include "simulation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/error.hpp"
#include "turns.hpp"

namespace autofinity::sim {

Simulation::Simulation(std::shared_ptr<const MachineModel> machine, ProgramPtr program,
                       Options options)
    : parts_(std::move(machine), std::move(program), std::move(options)) {
    if (parts_.program->beginning != nullptr) parts_.warm_start.warm();
    parts_.processes.start_due(0);
}

// Time for a part of the lead, at full speed: it may take longer.
Ticks Simulation::lead_step(double lead) const {
    constexpr double steps = 16;
    const auto pus = static_cast<double>(
        std::ranges::count_if(parts_.board.pus, [](const Pu& p) { return p.stream != nobody; }));
    const double instructions = static_cast<double>(parts_.program->processes.front().instructions);
    double part = lead * instructions / std::max(pus, 1.0);
    const Program& program = *parts_.program;
    for (std::size_t s = 0; s < program.streams.size(); ++s)
        if (program.beginning->after[s] == After::goes_on)
            part = std::min(part, static_cast<double>(program.streams[s].instructions) / 2);
    const auto instruction = static_cast<double>(parts_.machine->classes.front().instruction);
    return std::max<Ticks>(static_cast<Ticks>(part / steps * instruction), ticks_per_clock);
}

// Streams need not reach the ends of their leads together: the stream that ends the window must be
// there.
bool Simulation::lead_is_over(double lead) const {
    if (parts_.regions.progress() >= lead) return true;
    const Beginning& beginning = *parts_.program->beginning;
    for (std::size_t s = 0; s < beginning.after.size(); ++s) {
        const std::uint64_t all = parts_.program->streams[s].instructions;
        if (beginning.after[s] == After::goes_on && all != 0 &&
            2 * parts_.board.streams[s].instructions >= all)
            return true;
    }
    return false;
}

MeasuredWindow Simulation::run_window(double lead) {
    if (parts_.program->beginning == nullptr || parts_.timetable.now != 0)
        throw SimulationError("only a window that has not begun can be run as one");
    if (!(lead >= 0 && lead < 1))
        throw SimulationError("got a lead of " + std::to_string(lead) +
                              " of the window; expected 0 or more and less than 1");
    while (!lead_is_over(lead))
        if (advance(lead_step(lead)))
            throw SimulationError("the window is over before its lead is; it is too short");
    parts_.warm_start.settle_llcs();
    parts_.processes.begin_region_anew();
    MeasuredWindow measured;
    for (const Stream& s : parts_.board.streams)
        measured.at_barriers.push_back(s.account.barrier_ticks);
    const std::uint64_t released = parts_.synchroniser.barrier_releases();
    const Ticks begin = parts_.timetable.now;
    run();
    const Ticks end = parts_.timetable.now;
    measured.duration = end - begin;
    measured.barriers = parts_.synchroniser.barrier_releases() - released;
    for (std::size_t i = 0; i < measured.at_barriers.size(); ++i) {
        const Stream& s = parts_.board.streams[i];
        measured.at_barriers[i] = s.account.barrier_ticks - measured.at_barriers[i];
        const bool at_end =
            parts_.program->streams[i].steps.data() == nullptr || s.position.at->is_sentinel();
        measured.after_end.push_back(
            at_end && s.status != Status::running ? end - std::clamp(s.left_pu, begin, end) : 0);
    }
    return measured;
}

bool Simulation::advance(Ticks duration) {
    if (ended()) return true;
    parts_.timetable.wanted = std::min(duration, forever);
    if (parts_.regions.any_begun())
        parts_.timetable.target = std::min(forever, parts_.timetable.now + parts_.timetable.wanted);
    parts_.timetable.set_stop();
    return take_turns(parts_);
}

void Simulation::bind(std::uint32_t number, std::uint32_t pu, bool stay) {
    if (number >= parts_.board.streams.size() || pu >= parts_.board.pus.size())
        throw SimulationError("cannot bind stream " + std::to_string(number) + " to PU " +
                              std::to_string(pu) + ": there are " +
                              std::to_string(parts_.board.streams.size()) + " streams and " +
                              std::to_string(parts_.board.pus.size()) + " PUs");
    Stream& s = parts_.board.streams[number];
    if (parts_.os && stay) {
        parts_.os->keep_on(number, {pu});
        s.placed = true;
    }
    if (s.pu == pu) return;
    if (s.status == Status::running || s.status == Status::ready)
        parts_.watching.spend(Overhead::thread_migration, parts_.machine->migration);
    parts_.run_queues.move(number, pu, parts_.timetable.now);
    parts_.board.order_anew();
}

void Simulation::confine(std::uint32_t number, const std::vector<std::uint32_t>& pus) {
    const auto exists = [&](std::uint32_t pu) { return pu < parts_.board.pus.size(); };
    if (number >= parts_.board.streams.size() || pus.empty() || !std::ranges::all_of(pus, exists))
        throw SimulationError("cannot confine stream " + std::to_string(number) + " to " +
                              std::to_string(pus.size()) + " PUs: no such stream, or PU");
    if (!parts_.os) throw SimulationError("no operating system moves threads here; bind them");
    parts_.os->keep_on(number, pus);
    const Stream& s = parts_.board.streams[number];
    if (!parts_.os->may_run(number, s.pu)) bind(number, pus[number % pus.size()], false);
}

void Simulation::check() const {
    parts_.memory.check();
    if (parts_.machine->skew == 0 && parts_.accesses.out_of_order() != 0)
        throw SimulationError(std::to_string(parts_.accesses.out_of_order()) +
                              " accesses were issued after others that came later");
}

std::int64_t Simulation::node_of_page(std::uint32_t process, std::uint64_t virtual_page) const {
    const std::uint32_t page = parts_.program->page_of(process, virtual_page);
    if (page == 0 || !parts_.memory.page_mapped(page)) return -1;
    return parts_.memory.node_of_page(page);
}

std::vector<std::pair<std::uint64_t, std::uint32_t>> Simulation::touched_pages() const {
    const Memory& memory = parts_.memory;
    std::vector<bool> listed(memory.units().count());
    std::vector<std::pair<std::uint64_t, std::uint32_t>> found;
    for (std::uint32_t page = 0; page < parts_.program->n_pages(); ++page) {
        const std::uint64_t number = virtual_page(page);
        // The simulator's own pages (locks, page tables) have no address.
        if (number == 0 || !memory.page_mapped(page)) continue;
        const std::uint32_t unit = memory.units().of(page);
        if (listed[unit]) continue;
        listed[unit] = true;
        found.emplace_back(memory.units().first_page(number), memory.node_of_page(page));
    }
    return found;
}

}  // namespace autofinity::sim
