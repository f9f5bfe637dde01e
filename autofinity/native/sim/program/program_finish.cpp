// Facts of a program that are known when all of it has been read.
#include <algorithm>
#include <utility>

#include "ordered_accesses.hpp"
#include "program_builder.hpp"
#include "sim/memory/zeroed.hpp"

namespace autofinity::sim {
namespace {

using trace::Kind;

std::uint32_t round_up(std::size_t lines, std::uint32_t to) {
    return static_cast<std::uint32_t>((lines + to - 1) / to * to);
}

}  // namespace

void ProgramBuilder::finish() {
    order_units();
    find_takers();
    find_own_memory();
    number_objects();
}

void ProgramBuilder::order_units() {
    program_.instance_of_barrier.resize(program_.barrier_objects.size(), no_token);
    program_.task_of_token.resize(program_.tokens.size(), no_token);
    auto& units = program_.units;
    // A task that never awaits a creation cannot be distributed, nor can a task of a team without a
    // barrier, which is one thread.
    std::vector<bool> created(units.size());
    for (const std::uint32_t task : program_.task_of_token)
        if (task != no_token) created[task] = true;
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        if (units[u].task && !units[u].in_place &&
            (!created[u] || program_.instances[units[u].instance].barrier == no_token))
            run_in_place(u);
        if (!units[u].task) program_.instances[units[u].instance].units.push_back(u);
    }
    for (std::uint32_t& task : program_.task_of_token)
        if (task != no_token && units[task].in_place) task = no_token;
    // Barriers of teams without distributed tasks are plain barriers.
    std::vector<bool> handed_out(program_.instances.size());
    for (const Unit& unit : units)
        if (unit.task && !unit.in_place) handed_out[unit.instance] = true;
    for (std::uint32_t& instance : program_.instance_of_barrier)
        if (instance != no_token && !handed_out[instance]) instance = no_token;
    for (auto& instance : program_.instances)
        std::stable_sort(instance.units.begin(), instance.units.end(),
                         [&](auto a, auto b) { return units[a].order < units[b].order; });
}

// Streams that take a team's tasks: those that arrive at its barrier, and those that ran one.
void ProgramBuilder::find_takers() {
    bool any = false;
    for (const Unit& unit : program_.units) {
        if (!unit.task || unit.in_place) continue;
        any = true;
        auto& takers = program_.instances[unit.instance].takers;
        takers.resize(program_.streams.size());
        takers[unit.stream] = true;
    }
    if (!any) return;
    for (std::size_t s = 0; s < program_.streams.size(); ++s)
        for (const Step& step : program_.streams[s].steps)
            if (step.is(Kind::barrier))
                if (const std::uint32_t of = program_.instance_of_barrier[step.barrier()];
                    of != no_token)
                    program_.instances[of].takers[s] = true;
}

// One line for each lock and barrier, on pages of their own.
void ProgramBuilder::number_objects() {
    program_.first_lock_line = groups_ << group_shift;
    program_.first_barrier_line =
        program_.first_lock_line + round_up(program_.lock_objects.size(), lines_per_page);
    program_.n_lines = round_up(
        program_.first_barrier_line + round_up(program_.barrier_objects.size(), lines_per_page),
        1u << group_shift);
    program_.virtual_page.assign(program_.n_pages(), 0);
    for (std::uint32_t group = 1; group < groups_; ++group)
        for (std::uint32_t i = 0; i < 8; ++i)
            program_.virtual_page[(group << 3) + i] = first_page_[group] + i;
    program_.tables = PageTables(program_.virtual_page, program_.n_lines);
    // Eight bytes a page, as a page-table entry; then a row a stream.
    program_.first_history_line = program_.tables.end;
    program_.first_matrix_line =
        program_.first_history_line +
        round_up((program_.tables.end >> group_shift) + 1, 1u << group_shift);
    program_.n_lines =
        program_.first_matrix_line +
        round_up(static_cast<std::uint32_t>(program_.streams.size()) * program_.matrix_row_lines(),
                 1u << group_shift);
    program_.virtual_page.resize(program_.n_pages(), 0);
}

}  // namespace autofinity::sim
