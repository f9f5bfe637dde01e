// Bursts: several accesses to one line over a span of instructions, carried out at once and taken
// back in part when another core takes the line before the span is over.
#include <algorithm>

#include "issue.hpp"

namespace autofinity::sim {

void Simulation::split_lost_bursts(Ticks now) {
    for (const Lost& lost : memory_.lost()) {
        if (!any_bursts_) continue;
        for (const std::uint32_t index : pus_of_slot_[lost.cached_core]) {
            const Pu& p = pus_[index];
            // Most lines are lost long after.
            if (p.stream != nobody && !bursts_over(streams_[p.stream]))
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
    Pu& p = pus_[index];
    Stream& v = streams_[p.stream];
    const std::size_t put_off = v.deferred.size();
    const std::uint64_t next = take_back(v, lost, position(p, v, std::max(p.time, now)));
    if (v.deferred.size() == put_off) return;
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
                                   v.at->gap() - std::min<std::uint64_t>(v.skip, v.at->gap()));
}

// Puts off what a stream that has come to instruction `here` was not to do yet on the lost line.
// Returns the first instruction after its present one that something was put off to.
std::uint64_t Simulation::take_back(Stream& v, const Lost& lost, std::uint64_t here) {
    std::uint64_t next = no_instruction;
    if (!runs_[v.process].in_region || v.bursts_end <= here) return next;
    for (OpenBurst& burst : v.open) {
        if (burst.step.line() != lost.line || burst.end() <= here) continue;
        const Step rest = burst.rest_after(std::max(here, burst.start));
        if (rest.accesses() == 0 || (lost.only_write && rest.writes() == 0)) continue;
        v.counts[data_cache_loads] -= rest.reads();
        v.counts[data_cache_stores] -= rest.writes();
        const std::uint64_t at = burst.end() - rest.span();
        burst.step = {};
        v.deferred.add({at, rest});
        if (at > v.instructions) next = std::min(next, at);
    }
    return next;
}

// The accesses that are due after instruction `from`, as a burst that ends when this one does.
Step OpenBurst::rest_after(std::uint64_t from) const {
    // What was carried out when the burst began: one access of each kind it has.
    const std::uint32_t first = (step.reads() != 0) + (step.writes() != 0);
    const std::uint32_t all = step.accesses();
    const std::uint64_t rest = (all - first) * (end() - from) / step.span();
    const std::uint64_t writes = std::min<std::uint64_t>(
        (rest * step.writes() + all / 2) / all, step.writes() - std::uint64_t{step.writes() != 0});
    const std::uint64_t reads = std::min<std::uint64_t>(
        rest - std::min(rest, writes), step.reads() - std::uint64_t{step.reads() != 0});
    const std::uint64_t apart = std::uint64_t{step.span()} * first / std::max(1u, all - 1);
    const std::uint64_t at = std::min(end(), from + std::max<std::uint64_t>(apart, 1));
    return step.rest(static_cast<std::uint16_t>(reads), static_cast<std::uint16_t>(writes),
                     static_cast<std::uint16_t>(end() - at));
}

}  // namespace autofinity::sim
