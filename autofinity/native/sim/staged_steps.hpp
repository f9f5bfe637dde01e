// The steps of a private stage, one after the other, for as long as the PU has the turn. They say
// themselves what the core finds, so that there are no arrays to ask (private_stage.hpp).
#pragma once

#include <algorithm>

#include "derived_access.hpp"
#include "steps.hpp"

namespace autofinity::sim {

// An access that issues at once: no page fault, no atomic, a free miss buffer, and nobody who
// shares the core. Most are such. Returns the stream's time after it.
[[gnu::always_inline]] inline Ticks Simulation::issue_derived(Pu& p, Stream& s, PrivateCaches& c,
                                                              const Step& step, std::uint64_t issue,
                                                              Ticks at) {
    in_order(at);
    const Ticks walk = memory_.translate_derived(p.slot, &step, step, at, false);
    const Served served = memory_.access_derived(c, step, at);
    const Ticks last = served.ready + walk;
    s.counts[data_cache_loads] += step.reads;
    s.counts[data_cache_stores] += step.writes;
    s.dirty_victims += served.dirty_victims;
    const Ticks ready = std::max(last, at + p.kind->side.l1_hit);
    if (!served.contended && (step.flags & step_dependent) == 0) {
        if (last <= at) return at;
        p.ring[(p.ring_head + p.ring_count) % max_in_flight] = {issue + p.kind->window, ready};
        ++p.ring_count;
        set_watch(p, s);
        return at;
    }
    const Ticks hidden = served.contended ? 0 : gap_after(&step) * p.instruction;
    if (ready <= at + hidden) return at;
    s.stall_ticks += ready - hidden - at;
    return ready - hidden;
}

// As of any mode; what is not issued at once is as in any mode, too.
template <>
[[gnu::always_inline]] inline void Simulation::run_steps<Mode::staged>(std::uint32_t index, Pu& p,
                                                                       Stream& s, Ticks horizon) {
    PrivateCaches& c = memory_.caches(p.slot);
    const Ticks instruction = p.instruction;
    const Step* next = s.at;
    std::uint64_t done = s.instructions;
    Ticks now = p.time;
    const auto put_back = [&] {
        s.at = next;
        s.instructions = done;
        p.time = now;
    };
    const auto look_again = [&] {
        next = s.at;
        done = s.instructions;
        now = p.time;
    };
    for (;;) {
        bring_near(next, steps_brought_near);
        const Step& step = *next;
        const std::uint64_t issue = done + step.gap;
        if (issue >= p.watch) {
            if (p.ring_count == 0 || p.ring[p.ring_head].limit > issue || s.skip != 0 ||
                !s.deferred.empty() || p.shares) [[unlikely]] {
                put_back();
                if (!attend(index, p, s, horizon)) break;
                look_again();
                if (yield_) {
                    p.key = p.time;
                    break;
                }
                continue;
            }
            const std::uint64_t limit = std::max(p.ring[p.ring_head].limit, done);
            now += wait_for_oldest_miss(p, s, now + (limit - done) * instruction);
            set_watch(p, s);
            continue;
        }
        const Ticks at = now + step.gap * instruction;
        if (at > horizon) {
            put_back();
            p.key = at;
            break;
        }
        memory_.foresee_derived(c, next);
        if (step.kind == kind_victim) {
            // They come several at a time, and take none.
            for (memory_.follow(c, *next++); next->kind == kind_victim && next->gap == 0;
                 memory_.follow(c, *next++))
                memory_.foresee_derived(c, next);
            s.at = next;
            done = issue;
            now = at;
            continue;
        }
        if (!is_access(step)) {
            if (const Ticks free = carried_out(p, step, at); must_wait(p, at, free, horizon)) {
                put_back();
                put_off(p, at, free);
                break;
            }
            s.instructions = issue;
            p.time = at;
            if (is_noted(step.kind)) {
                follow(p, s, step);
                ++s.at;
            } else if (!synchronise(index, s, step)) {
                break;
            }
            look_again();
            if (yield_) {
                p.key = p.time;
                break;
            }
            continue;
        }
        tell_past(*c.past, step, issue);
        while (p.ring_count != 0 && p.ring[p.ring_head].ready <= at) forget_oldest_miss(p);
        if (p.ring_count == p.kind->misses_in_flight || (step.flags & step_atomic) != 0 ||
            p.shares || at < p.key || memory_.faults(step.line)) [[unlikely]] {
            put_back();
            if (!slow_access(p, s, step, issue, at, horizon, gap_after(next))) break;
            look_again();
        } else {
            now = issue_derived(p, s, c, step, issue, at);
            done = issue;
            if ((step.flags & step_run) != 0) remember_run(s, step, issue);
            if (!memory_.lost().empty()) {
                put_back();
                split_lost_runs(at);
            }
        }
        ++next;
        end_past(*c.past, step);
        if ((step.flags & step_pushes) != 0)
            for (; is_pushed(next->kind); ++next) {
                memory_.foresee_derived(c, next);
                s.dirty_victims += memory_.follow(c, *next);
            }
        s.at = next;
        if (yield_) [[unlikely]] {
            put_back();
            p.key = p.time;
            break;
        }
    }
    if (!p.queue.empty()) p.key = std::min(p.key, std::max(p.time, p.slice_end));
}

}  // namespace autofinity::sim
