// Runs: several accesses to one line over a span of instructions, carried out at once and taken
// back in part when another core takes the line before the span is over.
#include <algorithm>

#include "simulation.hpp"

namespace autofinity::sim {

// When all runs under way are over, if nothing delays the stream.
Ticks Simulation::end_of_runs(const Pu& p, const Stream& s) {
    return s.runs_end <= s.instructions ? 0
                                        : p.time + (s.runs_end - s.instructions) * p.instruction;
}

// `taken`: when the lines were.
void Simulation::split_lost_runs(Ticks taken) {
    for (const Lost& lost : memory_.lost()) {
        for (const std::uint32_t index : pus_of_slot_[lost.slot]) {
            Pu& p = pus_[index];
            if (p.stream == nobody) continue;
            Stream& v = streams_[p.stream];
            if (!runs_[v.process].in_region) continue;
            // How far the victim has come by now: it may be in the middle of a gap. A derived
            // stream also knows when it had run ahead with accesses that need no order.
            std::uint64_t here = v.instructions;
            const Ticks now = mode_ == Mode::staged ? taken : std::max(p.time, heap_.first_time());
            if (now < p.time)
                here -= std::min<std::uint64_t>((p.time - now) / p.instruction, here);
            else
                here +=
                    std::min<std::uint64_t>((now - p.time) / p.instruction,
                                            v.at->gap - std::min<std::uint64_t>(v.skip, v.at->gap));
            if (v.runs_end <= here) continue;
            for (OpenRun& run : v.open) {
                if (run.step.line != lost.line || run.end() <= here) continue;
                const std::uint64_t span = run.step.span;
                const std::uint64_t from = std::max(here, run.start);
                // What was carried out when the run began: one access of each kind it has.
                const std::uint32_t first = (run.step.reads != 0) + (run.step.writes != 0);
                const std::uint32_t all = run.step.reads + run.step.writes;
                const std::uint64_t rest_all = (all - first) * (run.end() - from) / span;
                Step rest = run.step;
                rest.writes = static_cast<std::uint16_t>(std::min<std::uint64_t>(
                    (rest_all * rest.writes + all / 2) / all, rest.writes - (rest.writes != 0)));
                rest.reads = static_cast<std::uint16_t>(std::min<std::uint64_t>(
                    rest_all - std::min<std::uint64_t>(rest_all, rest.writes),
                    rest.reads - (rest.reads != 0)));
                if (rest.reads + rest.writes == 0 || (lost.only_write && rest.writes == 0))
                    continue;
                v.counts[data_cache_loads] -= rest.reads;
                v.counts[data_cache_stores] -= rest.writes;
                const std::uint64_t step = span * first / std::max(1u, all - 1);
                const std::uint64_t at =
                    std::min(run.end(), from + std::max<std::uint64_t>(step, 1));
                rest.span = static_cast<std::uint16_t>(run.end() - at);
                rest.gap = 0;
                if (mode_ == Mode::staged) rest.kind = kind_derived;  // found in the L1
                if (rest.span == 0 || rest.reads + rest.writes == 1)
                    rest.flags &= static_cast<std::uint8_t>(~step_run);
                run.step.line = 0;
                v.deferred.insert(
                    std::upper_bound(v.deferred.begin(), v.deferred.end(), at,
                                     [](std::uint64_t a, const Deferred& d) { return a > d.at; }),
                    Deferred{at, rest});
                set_watch(p, v);
                if (const Ticks due = p.time + (at - v.instructions) * p.instruction;
                    at > v.instructions && due < p.key) {
                    p.key = due;
                    heap_.advance(index, due);
                }
            }
        }
    }
    memory_.clear_lost();
}

}  // namespace autofinity::sim
