// The steps of a stream, one after the other, for as long as its PU has the turn: what stays in the
// L1 here, all else by others.
#pragma once

#include <algorithm>
#include <utility>

#include "issue.hpp"
#include "simulation.hpp"

namespace autofinity::sim {

inline constexpr std::uint64_t most_hits_unfolded = 1u << 14;
// Flags of accesses that are more than their latency.
inline constexpr std::uint8_t complex_access = step_atomic | step_dependent;

// How far ahead the steps themselves are brought near, 64 bytes at a time: streams take turns of a
// few steps each, which no prefetcher of a host follows.
inline constexpr std::size_t steps_brought_near = 16;

// As is_access; only the steps of a private stage have kinds of their own.
template <Mode mode>
inline bool accesses(const Step& step) {
    if constexpr (mode == Mode::staged) return is_access(step);
    return step.kind == static_cast<std::uint8_t>(trace::Kind::access);
}

// A step that is due: an access that may leave the core, or no access.
template <Mode mode>
[[gnu::always_inline]] inline bool Simulation::take_step(std::uint32_t index, Pu& p, Stream& s,
                                                         const Step& step, std::uint64_t issue,
                                                         Ticks at, Ticks horizon) {
    if (accesses<mode>(step)) {
        const std::uint32_t next_gap = mode == Mode::staged ? gap_after(s.at) : s.at[1].gap;
        if constexpr (mode == Mode::derive) memory_.outcome().clear();
        if constexpr (mode == Mode::staged) tell_past(*memory_.caches(p.slot).past, step, issue);
        if (!access_slowly<mode>(p, s, step, issue, at, horizon, next_gap)) return false;
        if constexpr (mode == Mode::full || mode == Mode::watched)
            if (memory_.worth_foresight())
                memory_.foresee(memory_.caches(p.slot), s.at, s.foreseen);
        if constexpr (mode == Mode::derive)
            recorder_->access(number_of(s), step, issue, next_gap, memory_.outcome());
        ++s.at;
        if constexpr (mode == Mode::staged) {
            end_past(*memory_.caches(p.slot).past, step);
            if ((step.flags & step_pushes) != 0) follow_pushed(p, s);
        }
        return true;
    }
    if (const Ticks free = carried_out(p, step, at); must_wait(p, at, free, horizon))
        return put_off(p, at, free);
    s.instructions = issue;
    p.time = at;
    if constexpr (mode == Mode::staged) {
        if (is_noted(step.kind)) {
            follow(p, s, step);
            ++s.at;
            return true;
        }
    }
    if constexpr (mode == Mode::derive)
        recorder_->other(number_of(s), s.at, issue, memory_.caches(p.slot).taken.get());
    return synchronise(index, s, step);
}

template <Mode mode>
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
    [[maybe_unused]] Watched watched;
    const auto count_accesses = [&] {
        if constexpr (mode == Mode::derive)
            recorder_->fold_hits(number_of(s), loads, stores, s.instructions);
        s.counts[data_cache_loads] += std::exchange(loads, 0);
        s.counts[data_cache_stores] += std::exchange(stores, 0);
    };
    for (;;) {
        bring_near(next, steps_brought_near);
        // Each field for itself: a copy of the step would be stored first, and waited for.
        const std::uint32_t gap = next->gap;
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
        const std::uint8_t flags = next->flags;
        if (accesses<mode>(*next) && (flags & complex_access) == 0) {
            const Line line = next->line;
            const std::uint16_t reads = next->reads, writes = next->writes;
            const std::uint32_t page = line >> page_shift;
            if (page == last_page || c.translates(page)) {
                last_page = page;
                const Word if_read = Word{0} - (writes == 0);
                if (l1.use(line, if_read, [&] {
                        return mode != Mode::derive || recorder_->covered(number_of(s), *next);
                    })) {
                    loads += reads;
                    stores += writes;
                    done = issue;
                    now = at;
                    if constexpr (mode == Mode::watched) {
                        if (watched.page != page) tell_accesses(p, s, watched);
                        watched.page = page;
                        watched.accesses += reads + writes;
                    }
                    if constexpr (mode == Mode::derive) {
                        put_back();
                        if (loads + stores >= most_hits_unfolded) count_accesses();
                    } else if ((flags & step_run) != 0) {
                        remember_run(s, *next, issue);
                    }
                    ++next;
                    continue;
                }
            }
        }
        if constexpr (mode == Mode::watched) {
            tell_accesses(p, s, watched);
            if (watched.cost != 0) {  // the step is due later
                now += std::exchange(watched.cost, 0);
                continue;
            }
        }
        put_back();
        const Step step = *next;  // a unit that ends may take its steps with it
        if (mode == Mode::derive || !accesses<mode>(step))
            count_accesses();  // the step may begin or end the region
        if (!take_step<mode>(index, p, s, step, issue, at, horizon)) break;
        look_again();
        if (yield_) {
            p.key = p.time;
            break;
        }
    }
    count_accesses();
    if constexpr (mode == Mode::watched) {
        tell_accesses(p, s, watched);
        p.time += watched.cost;
        p.key += watched.cost;
    }
    if (!p.queue.empty()) p.key = std::min(p.key, std::max(p.time, p.slice_end));
}

}  // namespace autofinity::sim
