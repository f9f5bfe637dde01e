// Runs: several accesses to one line over a span of instructions, carried out at once and taken
// back in part when another core takes the line before the span is over.
#include <algorithm>

#include "issue.hpp"

namespace autofinity::sim {

void Simulation::split_lost_runs(Ticks now) {
    for (const Lost& lost : memory_.lost()) {
        if (!any_runs_) continue;
        for (const std::uint32_t index : pus_of_slot_[lost.slot]) {
            const Pu& p = pus_[index];
            // Most lines are lost long after.
            if (p.stream != nobody && !runs_over(streams_[p.stream]))
                take_back_from(index, lost, now);
            // Threads that wait for their turn have stopped where they are.
            for (const std::uint32_t number : p.queue)
                take_back(streams_[number], lost, streams_[number].instructions);
        }
    }
    memory_.clear_lost();
}

// What the stream that runs on a PU was not to do yet. What it has done it has: no stream runs past
// the horizon.
void Simulation::take_back_from(std::uint32_t index, const Lost& lost, Ticks now) {
    const Pu& p = pus_[index];
    Stream& v = streams_[p.stream];
    const std::size_t put_off = v.deferred.size();
    const std::uint64_t next = take_back(v, lost, position(p, v, std::max(p.time, now)));
    if (v.deferred.size() != put_off) bring_forward(index, v, next, now);
}

// Something was put off to instruction `next` after the stream's present one, or to where it is.
void Simulation::bring_forward(std::uint32_t index, const Stream& v, std::uint64_t next,
                               Ticks now) {
    Pu& p = pus_[index];
    set_watch(p, v);
    if (next == no_instruction) return;
    const Ticks due = std::max(now, p.time + (next - v.instructions) * p.instruction);
    if (due >= p.key) return;
    p.key = due;
    due_.advance(index, due);
    yield_ = true;
}

// How far a stream that runs has come by `now`, in instructions: it may be in the middle of a gap.
std::uint64_t Simulation::position(const Pu& p, const Stream& v, Ticks now) {
    if (now < p.time)
        return v.instructions -
               std::min<std::uint64_t>((p.time - now) / p.instruction, v.instructions);
    return v.instructions +
           std::min<std::uint64_t>((now - p.time) / p.instruction,
                                   v.at->gap - std::min<std::uint64_t>(v.skip, v.at->gap));
}

// Puts off what a stream that has come to instruction `here` was not to do yet on the lost line.
// Returns the first instruction after its present one that something was put off to.
std::uint64_t Simulation::take_back(Stream& v, const Lost& lost, std::uint64_t here) {
    std::uint64_t next = no_instruction;
    if (!runs_[v.process].in_region || v.runs_end <= here) return next;
    for (OpenRun& run : v.open) {
        if (run.step.line != lost.line || run.end() <= here) continue;
        const std::uint64_t from = std::max(here, run.start);
        const Step rest = rest_of(run, from);
        if (rest.reads + rest.writes == 0 || (lost.only_write && rest.writes == 0)) continue;
        v.counts[data_cache_loads] -= rest.reads;
        v.counts[data_cache_stores] -= rest.writes;
        const std::uint64_t at = run.end() - rest.span;
        run.step.line = 0;
        v.deferred.add({at, rest});
        if (at > v.instructions) next = std::min(next, at);
    }
    return next;
}

// The accesses of a run that are due after instruction `from`, as a run that ends when it does.
Step Simulation::rest_of(const OpenRun& run, std::uint64_t from) const {
    const std::uint64_t span = run.step.span;
    // What was carried out when the run began: one access of each kind it has.
    const std::uint32_t first = (run.step.reads != 0) + (run.step.writes != 0);
    const std::uint32_t all = run.step.reads + run.step.writes;
    const std::uint64_t rest_all = (all - first) * (run.end() - from) / span;
    Step rest = run.step;
    rest.writes = static_cast<std::uint16_t>(std::min<std::uint64_t>(
        (rest_all * rest.writes + all / 2) / all, rest.writes - (rest.writes != 0)));
    rest.reads = static_cast<std::uint16_t>(std::min<std::uint64_t>(
        rest_all - std::min<std::uint64_t>(rest_all, rest.writes), rest.reads - (rest.reads != 0)));
    const std::uint64_t step = span * first / std::max(1u, all - 1);
    const std::uint64_t at = std::min(run.end(), from + std::max<std::uint64_t>(step, 1));
    rest.span = static_cast<std::uint16_t>(run.end() - at);
    rest.gap = 0;
    if (rest.span == 0 || rest.reads + rest.writes == 1)
        rest.flags &= static_cast<std::uint8_t>(~step_run);
    return rest;
}

}  // namespace autofinity::sim
