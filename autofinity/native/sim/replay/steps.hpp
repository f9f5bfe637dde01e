// The steps of a stream, one after the other, for as long as its PU has the turn: what stays in the
// L1 here, all else by others.
#pragma once

#include <algorithm>
#include <utility>

#include "issue.hpp"
#include "simulation.hpp"

namespace autofinity::sim {

// How far ahead the steps themselves are brought near, 64 bytes at a time: streams take turns of a
// few steps each, which no prefetcher of a host follows.
inline constexpr std::size_t steps_brought_near = 16;

// A step that is due: an access that may leave the core, or no access.
template <bool watched>
[[gnu::always_inline]] inline bool Simulation::take_step(std::uint32_t index, Pu& p, Stream& s,
                                                         const Step& step, std::uint64_t issue,
                                                         Ticks at, Ticks horizon) {
    if (step.is_access()) {
        if (!access_slowly<watched>(p, s, step, issue, at, horizon, s.at[1].gap())) return false;
        if (memory_.worth_foresight()) memory_.foresee(memory_.caches(p.slot), s.at, s.foreseen);
        ++s.at;
        return true;
    }
    if (const Ticks free = carried_out(p, step, at); must_wait(p, at, free, horizon))
        return put_off(p, at, free);
    s.instructions = issue;
    p.time = at;
    return synchronise(index, s, step);
}

template <bool watched>
[[gnu::always_inline]] inline void Simulation::run_steps(std::uint32_t index, Pu& p, Stream& s,
                                                         Ticks horizon) {
    PrivateCaches& c = memory_.caches(p.slot);
    const DirectSets l1(c.l1);
    const Ticks instruction = p.instruction;
    // Where the stream is, in registers: a set that changes could alias what is in memory.
    const Step* next = s.at;
    std::uint64_t done = s.instructions, watch = p.watch;
    Ticks now = p.time;
    const auto put_back = [&] {
        s.at = next;
        s.instructions = done;
        p.time = now;
    };
    std::uint32_t last_page = 0;
    const auto look_again = [&] {
        next = s.at;
        done = s.instructions;
        watch = p.watch;
        now = p.time;
        last_page = 0;
    };
    std::uint64_t loads = 0, stores = 0;
    [[maybe_unused]] Untold untold;
    const auto count_accesses = [&] {
        s.counts[data_cache_loads] += std::exchange(loads, 0);
        s.counts[data_cache_stores] += std::exchange(stores, 0);
    };
    for (;;) {
        bring_near(next, steps_brought_near);
        // Each field for itself: a copy of the step would be stored first, and waited for.
        const std::uint32_t gap = next->gap();
        const std::uint64_t issue = done + gap;
        if (issue >= watch) [[unlikely]] {
            if (p.ring_count != 0 && p.ring[p.ring_head].limit <= issue && s.skip == 0 &&
                s.deferred.empty() && !p.shares) {
                const std::uint64_t limit = std::max(p.ring[p.ring_head].limit, done);
                now += wait_for_oldest_miss(p, s, now + (limit - done) * instruction);
                set_watch(p, s);
                watch = p.watch;
                continue;
            }
            put_back();
            if (s.skip != 0) count_accesses();
            if (!attend(index, p, s, horizon)) break;
            look_again();
            if (yield_) {
                p.key = p.time;
                break;
            }
            continue;
        }
        const Ticks at = now + gap * instruction;
        if (at > horizon) {
            put_back();
            p.key = at;
            break;
        }
        const Step::Kinds kinds = next->kinds();
        if (next->is_access() && kinds.plain()) {
            const Line line = next->line();
            const std::uint16_t reads = next->reads(), writes = next->writes();
            const std::uint32_t page = line >> page_shift;
            if (page == last_page || c.translates(page)) {
                last_page = page;
                const Word if_read = Word{0} - (writes == 0);
                if (l1.use(line, if_read)) {
                    loads += reads;
                    stores += writes;
                    done = issue;
                    now = at;
                    if constexpr (watched) {
                        if (untold.page != page) tell_accesses(p, s, untold);
                        untold.page = page;
                        untold.accesses += reads + writes;
                    }
                    if (kinds.burst()) remember_burst(s, *next, issue);
                    ++next;
                    continue;
                }
            }
        }
        if constexpr (watched) {
            tell_accesses(p, s, untold);
            if (untold.cost != 0) {  // the step is due later
                now += std::exchange(untold.cost, 0);
                continue;
            }
        }
        put_back();
        const Step step = *next;                  // a unit that ends may take its steps with it
        if (!step.is_access()) count_accesses();  // the step may begin or end the region
        if (!take_step<watched>(index, p, s, step, issue, at, horizon)) break;
        look_again();
        if (yield_) {
            p.key = p.time;
            break;
        }
    }
    count_accesses();
    if constexpr (watched) {
        tell_accesses(p, s, untold);
        p.time += untold.cost;
        p.key += untold.cost;
    }
    if (!p.queue.empty()) p.key = std::min(p.key, std::max(p.time, p.slice_end));
}

}  // namespace autofinity::sim
