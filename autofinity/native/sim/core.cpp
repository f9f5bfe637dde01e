// How a PU gets through the steps of its stream: issue, private hits, misses that overlap.
#include <algorithm>
#include <utility>

#include "error.hpp"
#include "simulation.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint32_t most_idle_slices = 1u << 16;
constexpr std::uint64_t most_hits_unfolded = 1u << 14;

// As is_access; only the steps of a private stage have kinds of their own.
template <Mode mode>
inline bool accesses(const Step& step) {
    if constexpr (mode == Mode::staged) return is_access(step);
    return step.kind == static_cast<std::uint8_t>(trace::Kind::access);
}

}  // namespace

// A step that is due: an access that may leave the core, or no access.
template <Mode mode>
[[gnu::always_inline]] inline bool Simulation::take_step(std::uint32_t index, Pu& p, Stream& s,
                                                         const Step& step, std::uint64_t issue,
                                                         Ticks at, Ticks horizon) {
    if (accesses<mode>(step)) {
        const std::uint32_t next_gap = s.at[1].gap;
        if constexpr (mode == Mode::derive) memory_.outcome().clear();
        if (!access_slowly<mode == Mode::watched>(p, s, step, issue, at, horizon, next_gap))
            return false;
        if constexpr (mode == Mode::full || mode == Mode::watched)
            if (memory_.worth_foresight())
                memory_.foresee(memory_.caches(p.slot), s.at, s.foreseen);
        if constexpr (mode == Mode::derive)
            recorder_->access(number_of(s), step, issue, next_gap, memory_.outcome());
        ++s.at;
        if constexpr (mode == Mode::staged)
            if ((step.flags & step_pushes) != 0)
                for (; is_pushed(s.at->kind); ++s.at)
                    s.dirty_victims += memory_.follow(p.slot, *s.at);
        return true;
    }
    s.instructions = issue;
    p.time = at;
    if constexpr (mode == Mode::staged) {
        if (is_pushed(step.kind) || step.kind == kind_tally) {
            follow(p, s, step);
            ++s.at;
            return true;
        }
    }
    if constexpr (mode == Mode::derive) recorder_->other(number_of(s), s.at, issue);
    return synchronise(index, s, step);
}

template <Mode mode>
[[gnu::always_inline]] inline void Simulation::run_steps(std::uint32_t index, Pu& p, Stream& s,
                                                         Ticks horizon, Ticks stop) {
    PrivateCaches& c = memory_.caches(p.slot);
    // Nobody may run past a region that another stream is about to begin.
    const Ticks farthest = outside_ == 0 ? stop : horizon;
    // Nor past the horizon in the middle of a run: who takes its line must find how far it came.
    const auto within_run = [&] { return s.runs_end > s.instructions; };
    Ticks limits[2] = {horizon, within_run() ? horizon : farthest};
    constexpr std::uint8_t complex = step_atomic | step_dependent;
    std::uint32_t last_page = 0;
    std::uint64_t loads = 0, stores = 0;
    [[maybe_unused]] Watched watched;
    const auto count_accesses = [&] {
        if constexpr (mode == Mode::derive)
            recorder_->fold_hits(number_of(s), loads, stores, s.instructions);
        s.counts[data_cache_loads] += std::exchange(loads, 0);
        s.counts[data_cache_stores] += std::exchange(stores, 0);
    };
    for (;;) {
        const Step step = *s.at;
        const std::uint64_t issue = s.instructions + step.gap;
        if (issue >= p.watch) {
            if (s.skip != 0) count_accesses();
            if (!attend(index, p, s, horizon, limits)) break;
            last_page = 0;
            if (within_run()) limits[1] = horizon;
            if (yield_) {
                p.key = p.time;
                break;
            }
            continue;
        }
        const Ticks at = p.time + step.gap * p.instruction;
        if (at > limits[step.flags >> 7]) {
            if ((step.flags & step_free) != 0 && at <= farthest && end_of_runs(p, s) <= horizon) {
                limits[1] = farthest;
                continue;
            }
            p.key = at;
            break;
        }
        if (mode != Mode::staged && accesses<mode>(step) && (step.flags & complex) == 0) {
            const std::uint32_t page = step.line >> page_shift;
            if (page == last_page || c.translates(page)) {
                last_page = page;
                Word* set = c.l1.at(step.line);
                Word word = set[0];
                int way = 0;
                if (line_of(word) != step.line) {
                    way = c.l1.find(set, step.line);
                    word = way < 0 ? 0 : set[way];
                }
                const Word state = state_of(word);
                if ((step.writes == 0 ? state != invalid
                                      : state == modified || state == exclusive) &&
                    (mode != Mode::derive || recorder_->covered(number_of(s), step))) {
                    if (step.writes != 0) word = word_of(step.line, modified);
                    to_front(set, way, word);
                    loads += step.reads;
                    stores += step.writes;
                    s.instructions = issue;
                    p.time = at;
                    if constexpr (mode == Mode::watched) {
                        if (watched.page != page) tell_accesses(p, s, watched);
                        watched.page = page;
                        watched.accesses += step.reads + step.writes;
                    }
                    if constexpr (mode == Mode::derive) {
                        if (loads + stores >= most_hits_unfolded) count_accesses();
                    } else if ((step.flags & (step_run | step_free)) == step_run) {
                        remember_run(s, step, issue);
                        limits[1] = horizon;
                    }
                    ++s.at;
                    continue;
                }
            }
        }
        if constexpr (mode == Mode::staged) memory_.foresee_derived(p.slot, s.at);
        if constexpr (mode == Mode::watched) {
            tell_accesses(p, s, watched);
            if (watched.cost != 0) {  // the step is due later
                p.time += std::exchange(watched.cost, 0);
                continue;
            }
        }
        if (mode == Mode::derive || !accesses<mode>(step))
            count_accesses();  // the step may begin or end the region
        if (!take_step<mode>(index, p, s, step, issue, at, horizon)) break;
        last_page = 0;
        if (within_run()) limits[1] = horizon;
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

template <Mode mode>
void Simulation::run_pu(std::uint32_t index, Ticks horizon) {
    Pu& p = pus_[index];
    Ticks stop = stop_;
    if (!p.queue.empty()) {
        if (p.key >= p.slice_end) {
            Stream& out = streams_[p.stream];
            const std::uint64_t before = out.instructions;
            const Ticks started = p.slice_end - std::min(p.slice_end, machine_->time_slice);
            drain(p, out);
            compute_until(p, out, p.slice_end);
            if (out.instructions == before && p.time <= started &&
                ++idle_slices_ > most_idle_slices)
                throw SimulationError("the replay stands still: " + where(out) +
                                      " gets its time slices and makes no progress");
            if (out.instructions != before || p.time > started) idle_slices_ = 0;
            account(out, p.time);
            out.status = Status::ready;
            out.ready_at = out.left_pu = p.time;
            p.queue.push_back(p.stream);
            give_pu(index);
            return;
        }
        stop = std::min(stop, p.slice_end);
        horizon = std::min(horizon, stop);
    }
    Stream& s = streams_[p.stream];
    memory_.caches(p.slot).counts = &s.counts;
    yield_ = false;
    Turn turn{forever, forever};
    if (!p.siblings.empty()) {
        turn = share_core(p, s, horizon);
        horizon = std::min(horizon, turn.until);
        stop = std::min(stop, turn.until);
    }
    if (s.resume != Resume::nothing) {
        const Resume resume = s.resume;
        s.resume = Resume::nothing;
        if (resume == Resume::choose) {
            if (!choose(index, s)) return;
        } else if (resume != Resume::retry) {
            touch_sync_line(p, s, s.resume_line, resume == Resume::take_lock, kind_derived);
            if (resume == Resume::take_lock) ++s.counts[lock_acquisitions];
        }
    }
    run_steps<mode>(index, p, s, horizon, stop);
    p.key = std::min(p.key, std::max(p.time, turn.change));
}

template void Simulation::run_pu<Mode::full>(std::uint32_t, Ticks);
template void Simulation::run_pu<Mode::watched>(std::uint32_t, Ticks);
template void Simulation::run_pu<Mode::derive>(std::uint32_t, Ticks);
template void Simulation::run_pu<Mode::staged>(std::uint32_t, Ticks);

// Something is due before the next step: a miss that the window cannot hide any longer, or accesses
// of a run that another core interrupted; or part of the gap before the step has been used up.
bool Simulation::attend(std::uint32_t index, Pu& p, Stream& s, Ticks horizon,
                        const Ticks (&limits)[2]) {
    const std::uint64_t due = s.instructions + s.at->gap - s.skip;
    const std::uint64_t deferred = s.deferred.empty() ? no_instruction : s.deferred.back().at;
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
        forget_oldest_miss(p);
        if (miss.ready > at) {
            stall(p, s, at, miss.ready);
            p.time += miss.ready - at;
        }
    } else if (deferred <= due) {
        const std::uint64_t to = std::max(deferred, s.instructions);
        const Ticks at = p.time + (to - s.instructions) * p.instruction;
        if (at > horizon) {
            p.key = at;
            return false;
        }
        const Step step = s.deferred.back().step;
        const std::uint64_t skipped = to - s.instructions;
        s.deferred.pop_back();
        s.skip += skipped;
        if (!slow_access(p, s, step, to, at, horizon, 0)) {
            s.skip -= skipped;
            s.deferred.push_back({deferred, step});
            return false;
        }
    } else {
        return finish_gap(index, p, s, horizon, limits);
    }
    set_watch(p, s);
    return true;
}

// The next step after the rest of its gap: the first part went by before the stream changed its PU,
// or at the speed that the PU had then.
bool Simulation::finish_gap(std::uint32_t index, Pu& p, Stream& s, Ticks horizon,
                            const Ticks (&limits)[2]) {
    const Step step = *s.at;
    const std::uint64_t rest = step.gap - std::min<std::uint64_t>(s.skip, step.gap);
    const std::uint64_t issue = s.instructions + rest;
    const Ticks at = p.time + rest * p.instruction;
    if (at > limits[step.flags >> 7]) {
        p.key = at;
        return false;
    }
    const bool access = is_access(step);
    if (!access) {
        s.skip = 0;
        set_watch(p, s);
    }
    const auto take = [&] {
        switch (mode_) {
            case Mode::full:
                return take_step<Mode::full>(index, p, s, step, issue, at, horizon);
            case Mode::watched:
                return take_step<Mode::watched>(index, p, s, step, issue, at, horizon);
            case Mode::derive:
                return take_step<Mode::derive>(index, p, s, step, issue, at, horizon);
            case Mode::staged:
                return take_step<Mode::staged>(index, p, s, step, issue, at, horizon);
        }
        return false;
    };
    if (!take()) return false;
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
    std::uint64_t left = s.at->gap - std::min<std::uint64_t>(s.skip, s.at->gap);
    if (!s.deferred.empty())
        left =
            std::min(left, s.deferred.back().at - std::min(s.deferred.back().at, s.instructions));
    const std::uint64_t done = std::min<std::uint64_t>((until - p.time) / p.instruction, left);
    s.instructions += done;
    s.skip += done;
    p.time += done * p.instruction;
}

void Simulation::set_watch(Pu& p, const Stream& s) {
    std::uint64_t watch = p.ring_count != 0 ? p.ring[p.ring_head].limit : no_instruction;
    if (!s.deferred.empty()) watch = std::min(watch, s.deferred.back().at);
    p.watch = s.skip != 0 ? 0 : watch;
}

bool Simulation::slow_access(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at,
                             Ticks horizon, std::uint32_t next_gap) {
    if (mode_ == Mode::watched)
        return access_slowly<true>(p, s, step, issue, at, horizon, next_gap);
    return access_slowly<false>(p, s, step, issue, at, horizon, next_gap);
}

template <bool watched>
bool Simulation::access_slowly(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at,
                               Ticks horizon, std::uint32_t next_gap) {
    PrivateCaches& c = memory_.caches(p.slot);
    const bool atomic = (step.flags & step_atomic) != 0;
    const Ticks free = atomic ? at : buffer_free(p, step, at);
    const bool induced = watched && detection_->armed(step.line >> page_shift);
    if (free > horizon && (induced || !memory_.stays_private(p.slot, step))) {
        p.key = free;
        if (p.shares) leave_issue(p, at, free);
        return false;
    }
    s.instructions = issue;
    stall(p, s, at, free);
    p.time = free;
    const bool faulted = memory_.faults(step.line);
    if (atomic || faulted || induced) drain(p, s);
    const Ticks issued = p.time;
    // The kernel works on the core: nothing overlaps with that.
    if (faulted) [[unlikely]]
        p.time += memory_.take_fault(p.slot, step.line);
    if (watched && (faulted || induced)) [[unlikely]]
        p.time += detection_->faulted(actor(p, s), step.line, induced);
    const Ticks begun = p.time;
    // What an access asks of the memory it asks at its own time, after a fault or a walk too: cores
    // would otherwise act far ahead of the others. The latencies add up all the same.
    const Ticks walk = memory_.translate(p.slot, step, issued, faulted || induced);
    Served served = memory_.access(p.slot, step, issued);
    served.ready += begun - issued + walk;
    s.counts[data_cache_loads] += step.reads;
    s.counts[data_cache_stores] += step.writes;
    if (atomic) ++s.counts[atomics];
    const Ticks ready =
        std::max(served.ready, begun + (atomic ? machine_->atomic_hit : c.side.l1_hit));
    if (atomic || served.contended) {
        p.time = ready;
    } else if ((step.flags & step_dependent) != 0) {
        const Ticks hidden = next_gap * p.instruction;
        if (ready > begun + hidden) p.time = ready - hidden;
    } else if (served.ready > begun) {
        overlap(p, s, ready);
    }
    s.stall_ticks += begun - issued;
    stall(p, s, begun, p.time);
    s.dirty_victims += served.dirty_victims;
    if constexpr (watched) p.time += watch_access(p, s, step, served, served.ready - begun);
    if ((step.flags & (step_run | step_free)) == step_run) remember_run(s, step, issue);
    if (!memory_.lost().empty()) split_lost_runs(issued);
    return true;
}

// When an access due at `at` finds a miss buffer, should it need one.
Ticks Simulation::buffer_free(Pu& p, const Step& step, Ticks at) {
    while (p.ring_count != 0 && p.ring[p.ring_head].ready <= at) forget_oldest_miss(p);
    if (p.ring_count < p.kind->misses_in_flight) return at;
    return memory_.hits_l1(p.slot, step) ? at : p.ring[p.ring_head].ready;
}

void Simulation::forget_oldest_miss(Pu& p) {
    p.ring_head = (p.ring_head + 1) % max_in_flight;
    --p.ring_count;
}

// The miss goes on while later instructions issue, as far as window and miss buffers allow.
void Simulation::overlap(Pu& p, Stream& s, Ticks ready) {
    while (p.ring_count != 0 && p.ring[p.ring_head].ready <= p.time) forget_oldest_miss(p);
    if (p.ring_count == p.kind->misses_in_flight) {  // a page walk of an access that hit the L1
        p.time = std::max(p.time, p.ring[p.ring_head].ready);
        forget_oldest_miss(p);
    }
    p.ring[(p.ring_head + p.ring_count) % max_in_flight] = {s.instructions + p.kind->window, ready};
    ++p.ring_count;
    set_watch(p, s);
}

void Simulation::drain(Pu& p, Stream& s) {
    Ticks last = p.time;
    for (; p.ring_count != 0; --p.ring_count) {
        last = std::max(last, p.ring[p.ring_head].ready);
        p.ring_head = (p.ring_head + 1) % max_in_flight;
    }
    stall(p, s, p.time, last);
    p.time = last;
    set_watch(p, s);
}

}  // namespace autofinity::sim
