// The steps of a stream, one after the other, as long as its PU has the turn: steps that stay in
// the L1 are carried out here, all others elsewhere.
#pragma once

#include <algorithm>
#include <utility>

#include "parts.hpp"

namespace autofinity::sim {

// Distance at which the steps themselves are prefetched, 64 bytes at a time: streams take turns of
// a few steps each, which no prefetcher of a host follows.
inline constexpr std::size_t steps_brought_near = 16;

// A due step that is no access. Like all functions below, false when the PU must yield.
bool take_event(Parts& parts, std::uint32_t index, Pu& p, Stream& s, const Step& step);
// Something is due before the next step: a miss that the window cannot hide any longer, or accesses
// of a burst that another core interrupted; or part of the gap before the step has been used up.
bool attend(Parts& parts, std::uint32_t index, Pu& p, Stream& s, Ticks horizon);

// A due step: an access that may leave the core, or no access. `watched`: there are detectors to
// notify.
template <bool watched>
[[gnu::always_inline]] inline bool take_step(Parts& parts, std::uint32_t index, Pu& p, Stream& s,
                                             const Step& step, std::uint64_t issue, Ticks at,
                                             Ticks horizon) {
    if (step.is_access()) {
        const std::uint32_t next_gap = s.position.at[1].gap();
        if (!parts.accesses.carry_out<watched>(p, s, step, issue, at, horizon, next_gap))
            return false;
        if (parts.memory.worth_foresight())
            parts.memory.foresee(parts.memory.caches(p.cached_core), s.position.at, s.foreseen);
        ++s.position.at;
        return true;
    }
    if (const Ticks free = Issue::carried_out(p, step, at); Issue::must_wait(p, at, free, horizon))
        return parts.issue.put_off(p, at, free);
    s.instructions = issue;
    p.time = at;
    return take_event(parts, index, p, s, step);
}

// Takes the stream's steps until it has to wait or yield.
template <bool watched>
[[gnu::always_inline]] inline void run_steps(Parts& parts, std::uint32_t index, Pu& p, Stream& s,
                                             Ticks horizon) {
    PrivateCaches& c = parts.memory.caches(p.cached_core);
    const DirectSets l1(c.l1);
    const Ticks instruction = p.instruction;
    // The position of the stream, in registers: a set that changes could alias memory.
    const Step* next = s.position.at;
    std::uint64_t done = s.instructions, watch = p.watch;
    Ticks now = p.time;
    const auto put_back = [&] {
        s.position.at = next;
        s.instructions = done;
        p.time = now;
    };
    std::uint32_t last_page = 0;
    const auto look_again = [&] {
        next = s.position.at;
        done = s.instructions;
        watch = p.watch;
        now = p.time;
        last_page = 0;
    };
    std::uint64_t loads = 0, stores = 0;
    [[maybe_unused]] Watching::Untold untold;
    const auto count_accesses = [&] {
        s.account.counts[data_cache_loads] += std::exchange(loads, 0);
        s.account.counts[data_cache_stores] += std::exchange(stores, 0);
    };
    for (;;) {
        bring_near(next, steps_brought_near);
        // Each field for itself: a copy of the step would be stored first, and waited for.
        const std::uint32_t gap = next->gap();
        const std::uint64_t issue = done + gap;
        if (issue >= watch) [[unlikely]] {
            if (!p.misses.empty() && p.misses.oldest().limit <= issue && s.skip == 0 &&
                s.deferred.empty() && !p.shares) {
                const std::uint64_t limit = std::max(p.misses.oldest().limit, done);
                now += parts.issue.wait_for_oldest_miss(p, s, now + (limit - done) * instruction);
                p.set_watch(s);
                watch = p.watch;
                continue;
            }
            put_back();
            if (s.skip != 0) count_accesses();
            if (!attend(parts, index, p, s, horizon)) break;
            look_again();
            if (parts.board.yield) {
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
                        if (untold.page != page) parts.watching.tell(p, s, untold);
                        untold.page = page;
                        untold.accesses += reads + writes;
                    }
                    if (kinds.burst()) parts.bursts.remember(s, *next, issue);
                    ++next;
                    continue;
                }
            }
        }
        if constexpr (watched) {
            parts.watching.tell(p, s, untold);
            if (untold.cost != 0) {  // the step is due later
                now += std::exchange(untold.cost, 0);
                continue;
            }
        }
        put_back();
        const Step step = *next;                  // a unit that ends may take its steps with it
        if (!step.is_access()) count_accesses();  // the step may begin or end the region
        if (!take_step<watched>(parts, index, p, s, step, issue, at, horizon)) break;
        look_again();
        if (parts.board.yield) {
            p.key = p.time;
            break;
        }
    }
    count_accesses();
    if constexpr (watched) {
        parts.watching.tell(p, s, untold);
        p.time += untold.cost;
        p.key += untold.cost;
    }
    if (!p.queue.empty()) p.key = std::min(p.key, std::max(p.time, p.slice_end));
}

}  // namespace autofinity::sim
