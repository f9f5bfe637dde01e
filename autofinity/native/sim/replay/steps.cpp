#include "steps.hpp"

#include <algorithm>

namespace autofinity::sim {

namespace {

bool wait_for_window(Parts& parts, Pu& p, Stream& s, Ticks horizon) {
    const std::uint64_t limit = std::max(p.misses.oldest().limit, s.instructions);
    const Ticks at = p.time + (limit - s.instructions) * p.instruction;
    if (p.shares) {  // siblings see when the stall begins
        if (at > horizon) {
            p.key = at;
            return false;
        }
        p.compute_until(s, at);
    }
    p.time += parts.issue.wait_for_oldest_miss(p, s, at);
    return true;
}

bool take_deferred(Parts& parts, Pu& p, Stream& s, Ticks horizon) {
    const std::uint64_t to = std::max(s.deferred.first().at, s.instructions);
    const std::uint64_t skipped = to - s.instructions;
    const Ticks at = p.time + skipped * p.instruction;
    if (at > horizon) {
        p.key = at;
        return false;
    }
    const Deferred first = s.deferred.take_first();
    s.skip += skipped;
    if (parts.accesses.carry_out(p, s, first.step, to, at, horizon, 0)) return true;
    s.skip -= skipped;
    s.deferred.put_back(first);
    return false;
}

// Takes the next step after the rest of its gap: the first part of the gap passed before the stream
// changed its PU, or at the earlier speed of the PU.
bool finish_gap(Parts& parts, std::uint32_t index, Pu& p, Stream& s, Ticks horizon) {
    const Step step = *s.position.at;
    const std::uint64_t rest = s.rest_of_gap();
    const std::uint64_t issue = s.instructions + rest;
    const Ticks at = p.time + rest * p.instruction;
    if (at > horizon) {
        p.key = at;
        return false;
    }
    const bool access = step.is_access();
    if (!access) {
        if (const Ticks free = Issue::carried_out(p, step, at);
            Issue::must_wait(p, at, free, horizon))
            return parts.issue.put_off(p, at, free);
        s.skip = 0;
        p.set_watch(s);
    }
    if (!(parts.watching.any() ? take_step<true>(parts, index, p, s, step, issue, at, horizon)
                               : take_step<false>(parts, index, p, s, step, issue, at, horizon)))
        return false;
    if (access) {
        s.skip = 0;
        p.set_watch(s);
    }
    if (parts.board.yield) p.key = p.time;
    return !parts.board.yield;
}

}  // namespace

// Handles an event of the stream's process, or one that affects other streams.
bool take_event(Parts& parts, std::uint32_t index, Pu& p, Stream& s, const Step& step) {
    if (step.is_sentinel()) {
        parts.issue.drain(p, s);
        parts.processes.end_stream(index, s);
        return false;
    }
    ++s.position.at;
    using trace::Kind;
    switch (step.kind()) {
        case Kind::roi_begin:
            parts.processes.begin_region(s.process, p.time);
            return true;
        case Kind::roi_end:
            parts.issue.drain(p, s);
            parts.processes.end_region(s.process, p.time);
            return true;
        case Kind::heartbeat:
            s.account.counts[useful_work] += step.work();
            return true;
        default:
            return parts.synchroniser.carry_out(index, s, step);
    }
}

bool attend(Parts& parts, std::uint32_t index, Pu& p, Stream& s, Ticks horizon) {
    const std::uint64_t due = s.instructions + s.position.at->gap() - s.skip;
    const std::uint64_t deferred = s.deferred.empty() ? no_instruction : s.deferred.first().at;
    if (!p.misses.empty() && p.misses.oldest().limit <= std::min(due, deferred)) {
        if (!wait_for_window(parts, p, s, horizon)) return false;
    } else if (deferred <= due) {
        if (!take_deferred(parts, p, s, horizon)) return false;
    } else {
        return finish_gap(parts, index, p, s, horizon);
    }
    p.set_watch(s);
    return true;
}

}  // namespace autofinity::sim
