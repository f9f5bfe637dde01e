// Memory that belongs to a thread and not to its work: the frames of the function of a loop or
// task, and scratch space indexed by the thread's number.
//
// Any free stream replays a work unit, but units were captured with the frames of the thread that
// ran them then. Streams that run units of one captured thread would write its frames in turn,
// which no machine does: each thread has frames of its own. So a unit that another stream runs gets
// lines of that stream in their place (WorkUnits).
//
// No part of a trace says where frames are. They are recognised by this: only one thread touches
// them, in so many units that a random distribution of the units would have this result once in a
// million times.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ordered_accesses.hpp"
#include "sim/error.hpp"
#include "sim/memory/zeroed.hpp"

namespace autofinity::sim {
namespace {

constexpr double bits_of_a_million = 20;
// Pages of the kernel's half of the address space, of which no program has one.
constexpr std::uint64_t first_own_page = std::uint64_t{0xF} << 32;
constexpr std::uint32_t several = 0xFFFFFFFFu;

struct Seen {
    std::uint32_t stream;  // from 1, or several
    std::uint32_t unit;    // latest of its units that touched the line, from 1
    std::uint32_t units;   // units that touched it; later its place, from 1
    std::uint32_t written;
};

// No two streams have own memory in one page of 2 MiB.
std::uint64_t pages_apart(std::uint32_t groups) {
    constexpr std::uint64_t pages = 512;
    return (8 * std::uint64_t{groups} + pages - 1) / pages * pages;
}

bool moves(const Unit& unit) { return !unit.in_place; }

}  // namespace

// Least number of a stream's units in which a line must be; none: no number would do.
std::vector<std::uint32_t> ProgramBuilder::units_beyond_chance() const {
    std::vector<std::uint32_t> units(program_.streams.size());
    for (const Unit& unit : program_.units) units[unit.stream] += moves(unit);
    std::vector<std::uint32_t> enough(units.size(), none);
    for (const Process& process : program_.processes) {
        const auto first = units.begin() + process.first_stream;
        const auto last = first + process.streams;
        const double all = std::accumulate(first, last, 0.0);
        const double most = all == 0 ? 0 : *std::max_element(first, last);
        if (most == all) continue;
        const double beyond_chance = 1 + std::ceil(bits_of_a_million / std::log2(all / most));
        std::fill_n(enough.begin() + process.first_stream, process.streams,
                    static_cast<std::uint32_t>(beyond_chance));
    }
    return enough;
}

void ProgramBuilder::find_own_memory() {
    const std::vector<std::uint32_t> enough = units_beyond_chance();
    if (std::ranges::all_of(enough, [](std::uint32_t each) { return each == none; })) return;
    const auto streams = static_cast<std::uint32_t>(program_.streams.size());
    Zeroed<Seen> seen(std::size_t{groups_} << group_shift);
    each_ordered_access([&](const Step& step, std::uint32_t who) {
        Seen& line = seen[step.line()];
        const std::uint32_t unit = who > streams ? who - streams : 0;
        const std::uint32_t stream = unit == 0 ? who : program_.units[unit - 1].stream + 1;
        if (line.stream == 0) line.stream = stream;
        if (line.stream != stream) line.stream = several;
        line.written |= step.writes();
        // Numbers of units rise within a stream: a unit that continues after a task is counted
        // once.
        if (unit <= line.unit) return;
        line.unit = unit;
        ++line.units;
    });
    std::vector<std::uint32_t> lines(streams);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        Seen& line = seen[i];
        const bool of_one = line.stream != 0 && line.stream != several && line.written != 0;
        line.units = of_one && line.units >= enough[line.stream - 1] ? ++lines[line.stream - 1] : 0;
    }
    for (std::uint32_t p = 0; p < process_; ++p) {
        const auto first = lines.begin() + program_.processes[p].first_stream;
        make_room_for_own_memory(p,
                                 *std::max_element(first, first + program_.processes[p].streams));
    }
    for (std::uint32_t s = 0; s < streams; ++s) {
        std::vector<std::uint32_t> open;
        for (Step& step : program_.streams[s].steps) {
            if (step.is(trace::Kind::unit_begin)) {
                open.push_back(step.unit());
            } else if (step.is(trace::Kind::unit_end)) {
                if (!open.empty() && open.back() == step.unit()) open.pop_back();
            } else if (!open.empty() && step.is_access() && seen[step.line()].units != 0) {
                step.be_own_memory();
                for (const std::uint32_t unit : open)
                    program_.units[unit].own =
                        std::min(program_.units[unit].own,
                                 static_cast<std::uint32_t>(program_.own_places.size()));
                program_.own_places.push_back(seen[step.line()].units - 1);
            }
        }
    }
}

void ProgramBuilder::make_room_for_own_memory(std::uint32_t number, std::uint32_t lines) {
    if (lines == 0) return;
    Process& process = program_.processes[number];
    const std::uint32_t groups = (lines + (1u << group_shift) - 1) >> group_shift;
    if (std::uint64_t{groups_} + std::uint64_t{groups} * process.streams >= max_lines >>
        group_shift)
        throw SimulationError(
            "the program touches more than 16 GiB of address space, the own memory of its threads "
            "among it");
    process.first_own_line = groups_ << group_shift;
    process.own_lines = groups << group_shift;
    for (std::uint32_t stream = 0; stream < process.streams; ++stream)
        for (std::uint32_t group = 0; group < groups; ++group) {
            const std::uint64_t page = first_own_page + stream * pages_apart(groups) + 8 * group;
            program_.group_of_.emplace(Program::group_key(number, page), groups_++);
            first_page_.push_back(std::uint64_t{number} << process_shift | page);
        }
}

}  // namespace autofinity::sim
