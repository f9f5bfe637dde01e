// What happens between two steps of a stream, before the next one is due or in its stead.
#include <algorithm>

#include "steps.hpp"

namespace autofinity::sim {

// Something is due before the next step: a miss that the window cannot hide any longer, or accesses
// of a run that another core interrupted; or part of the gap before the step has been used up.
bool Simulation::attend(std::uint32_t index, Pu& p, Stream& s, Ticks horizon) {
    const std::uint64_t due = s.instructions + s.at->gap() - s.skip;
    const std::uint64_t deferred = s.deferred.empty() ? no_instruction : s.deferred.first().at;
    if (p.ring_count != 0 && p.ring[p.ring_head].limit <= std::min(due, deferred)) {
        const InFlight miss = p.ring[p.ring_head];
        const Ticks at =
            p.time +
            (miss.limit > s.instructions ? (miss.limit - s.instructions) * p.instruction : 0);
        if (p.shares) {  // which sees when the stall begins
            if (at > horizon) {
                p.key = at;
                return false;
            }
            compute_until(p, s, at);
        }
        p.time += wait_for_oldest_miss(p, s, at);
    } else if (deferred <= due) {
        const std::uint64_t to = std::max(deferred, s.instructions);
        const Ticks at = p.time + (to - s.instructions) * p.instruction;
        if (at > horizon) {
            p.key = at;
            return false;
        }
        const Deferred first = s.deferred.take_first();
        const std::uint64_t skipped = to - s.instructions;
        s.skip += skipped;
        if (!slow_access(p, s, first.step, to, at, horizon, 0)) {
            s.skip -= skipped;
            s.deferred.put_back(first);
            return false;
        }
    } else {
        return finish_gap(index, p, s, horizon);
    }
    set_watch(p, s);
    return true;
}

// The next step after the rest of its gap: the first part went by before the stream changed its PU,
// or at the speed that the PU had then.
bool Simulation::finish_gap(std::uint32_t index, Pu& p, Stream& s, Ticks horizon) {
    const Step step = *s.at;
    const std::uint64_t rest = step.gap() - std::min<std::uint64_t>(s.skip, step.gap());
    const std::uint64_t issue = s.instructions + rest;
    const Ticks at = p.time + rest * p.instruction;
    if (at > horizon) {
        p.key = at;
        return false;
    }
    const bool access = step.is_access();
    if (!access) {
        if (const Ticks free = carried_out(p, step, at); must_wait(p, at, free, horizon))
            return put_off(p, at, free);
        s.skip = 0;
        set_watch(p, s);
    }
    if (!(detection_ ? take_step<true>(index, p, s, step, issue, at, horizon)
                     : take_step<false>(index, p, s, step, issue, at, horizon)))
        return false;
    if (access) {
        s.skip = 0;
        set_watch(p, s);
    }
    if (yield_) p.key = p.time;
    return !yield_;
}

// The stream has to leave its PU in the middle of a gap: what it computed so far is kept, or a gap
// longer than a time slice would begin anew in every slice.
void Simulation::compute_until(Pu& p, Stream& s, Ticks until) {
    if (until <= p.time || s.resume != Resume::nothing) return;
    std::uint64_t left = s.at->gap() - std::min<std::uint64_t>(s.skip, s.at->gap());
    if (!s.deferred.empty())
        left =
            std::min(left, s.deferred.first().at - std::min(s.deferred.first().at, s.instructions));
    const std::uint64_t done = std::min<std::uint64_t>((until - p.time) / p.instruction, left);
    s.instructions += done;
    s.skip += done;
    p.time += done * p.instruction;
}

}  // namespace autofinity::sim
