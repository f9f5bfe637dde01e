#include "simulation.hpp"

#include <algorithm>
#include <cmath>

#include "error.hpp"

namespace autofinity::sim {
namespace {

using trace::Kind;

constexpr double most_ticks = 1e15;  // 38 minutes at 1.7 GHz; 2^53 is what the heap can order
constexpr std::size_t most_sample_bytes = std::size_t{2} << 30;
constexpr std::uint32_t most_idle_slices = 1u << 16;
constexpr std::uint64_t no_instruction = std::numeric_limits<std::uint64_t>::max();

bool is_access(const Step& step) { return step.kind == static_cast<std::uint8_t>(Kind::access); }

}  // namespace

Simulation::Simulation(std::shared_ptr<const Machine> machine, ProgramPtr program, Options options)
    : machine_(std::move(machine)),
      program_(std::move(program)),
      options_(std::move(options)),
      memory_(*machine_, *program_, options_.placement, options_.seed),
      streams_(program_->streams.size()),
      pus_(machine_->core_of_pu.size()),
      pus_of_slot_(max_cores_in_use),
      locks_(program_->lock_objects.size()),
      barriers_(program_->barrier_objects.size()),
      tokens_(program_->tokens.size()),
      next_of_instance_(program_->instances.size(), 0) {
    if (pus_.size() > 1u << pu_bits)
        throw SimulationError("machines of more than 1024 PUs cannot be simulated");
    if (options_.pu_of_stream.size() != streams_.size())
        throw SimulationError("got a PU for " + std::to_string(options_.pu_of_stream.size()) +
                              " streams; the trace has " + std::to_string(streams_.size()));
    for (std::size_t i = 0; i < pus_.size(); ++i) {
        pus_[i].core = machine_->core_of_pu[i];
        pus_[i].instruction = machine_->instruction;
    }
    // Whatever the placement, simulated time must fit the keys of the heap.
    double total = 0;
    for (const StreamPlan& plan : program_->streams)
        total += static_cast<double>(plan.instructions);
    if (total * static_cast<double>(machine_->instruction) * machine_->smt_slowdown > most_ticks)
        throw SimulationError("the trace counts " + std::to_string(total) +
                              " instructions, more than a replay can last; is it damaged?");
    if (!program_->has_roi) begin_region(0);
    for (std::uint32_t i = 0; i < streams_.size(); ++i) {
        Stream& s = streams_[i];
        s.at = s.begin = program_->streams[i].steps.data();
        s.source = i;
        s.pu = options_.pu_of_stream[i];
        if (s.pu >= pus_.size())
            throw SimulationError("stream " + std::to_string(i) + " is placed on PU " +
                                  std::to_string(s.pu) + "; the machine has " +
                                  std::to_string(pus_.size()));
        wake(i, 0);
    }
}

// ---- the loop -----------------------------------------------------------------------------------

bool Simulation::advance(Ticks duration) {
    if (ended_) return true;
    duration = std::min(duration, forever);
    wanted_ = duration;
    if (in_region_) target_ = std::min(forever, now_ + duration);
    set_stop();
    while (!ended_) {
        if (heap_.empty()) {
            Ticks last = now_;
            for (const Stream& s : streams_) {
                if (s.status != Status::finished) deadlock();
                last = std::max(last, s.accounted);
            }
            if (!in_region_) throw SimulationError("the region of interest never begins");
            end_region(last);
            break;
        }
        const Ticks first = heap_key(0);
        if (first >= stop_) {
            now_ = stop_;
            account_all(now_);
            if (stop_ == next_sample_) {
                take_sample(now_);
                next_sample_ += options_.sample_period;
            }
            if (stop_ >= target_) return false;
            set_stop();
            continue;
        }
        Ticks second = forever;
        if (heap_.size() > 1) second = heap_key(1);
        if (heap_.size() > 2) second = std::min(second, heap_key(2));
        const std::uint32_t index = heap_pu(0);
        run_pu(index, std::min(second + machine_->skew, stop_));
        if (pus_[index].stream == nobody)
            heap_pop_root();
        else
            heap_set_root(pus_[index].key);
    }
    return true;
}

void Simulation::set_stop() { stop_ = std::min(target_, next_sample_); }

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
            out.ready_at = p.time;
            p.queue.push_back(p.stream);
            give_pu(index);
            return;
        }
        stop = std::min(stop, p.slice_end);
        horizon = std::min(horizon, stop);
    }
    Stream& s = streams_[p.stream];
    PrivateCaches& c = memory_.caches(p.slot);
    c.counts = &s.counts;
    yield_ = false;
    if (s.resume != Resume::nothing) {
        const Resume resume = s.resume;
        s.resume = Resume::nothing;
        if (resume == Resume::choose) {
            if (!choose(index, s)) return;
        } else if (resume != Resume::retry) {
            touch_sync_line(p, s, s.resume_line, resume == Resume::take_lock);
            if (resume == Resume::take_lock) ++s.counts[lock_acquisitions];
        }
    }
    // Nobody may run past a region that another stream is about to begin.
    const Ticks limits[2] = {horizon, in_region_ ? stop : horizon};
    constexpr std::uint8_t complex = step_atomic | step_dependent;
    std::uint32_t last_page = 0;
    std::uint64_t loads = 0, stores = 0;
    for (;;) {
        const Step step = *s.at;
        const std::uint64_t issue = s.instructions + step.gap;
        if (issue >= p.watch) {
            if (!attend(p, s, horizon)) break;
            continue;
        }
        const Ticks at = p.time + step.gap * p.instruction;
        if (at > limits[step.flags >> 7]) {
            p.key = at;
            break;
        }
        if (is_access(step)) {
            if ((step.flags & complex) == 0) {
                const std::uint32_t page = step.line >> page_shift;
                if (page == last_page || c.tlb1.touch(page)) {
                    last_page = page;
                    Word* set = c.l1.at(step.line);
                    Word word = set[0];
                    int way = 0;
                    if (line_of(word) != step.line) {
                        way = c.l1.find(set, step.line);
                        word = way < 0 ? 0 : set[way];
                    }
                    const Word state = state_of(word);
                    if (step.writes == 0 ? state != invalid
                                         : state == modified || state == exclusive) {
                        if (step.writes != 0) word = word_of(step.line, modified);
                        to_front(set, way, word);
                        loads += step.reads;
                        stores += step.writes;
                        s.instructions = issue;
                        p.time = at;
                        if ((step.flags & (step_run | step_free)) == step_run)
                            remember_run(s, step, issue);
                        ++s.at;
                        continue;
                    }
                }
            }
            if (!slow_access(p, s, step, issue, at, horizon, s.at[1].gap)) break;
            last_page = 0;
            ++s.at;
        } else {
            s.instructions = issue;
            p.time = at;
            if (!synchronise(index, s, step)) break;
            last_page = 0;
        }
        if (yield_) {
            p.key = p.time;
            break;
        }
    }
    s.counts[data_cache_loads] += loads;
    s.counts[data_cache_stores] += stores;
}

// Something is due before the next step: a miss that the window cannot hide any longer, or accesses
// of a run that another core interrupted.
bool Simulation::attend(Pu& p, Stream& s, Ticks horizon) {
    const std::uint64_t due = s.instructions + s.at->gap - s.skip;
    const std::uint64_t deferred = s.deferred.empty() ? no_instruction : s.deferred.back().at;
    if (p.ring_count != 0 && p.ring[p.ring_head].limit <= std::min(due, deferred)) {
        const InFlight miss = p.ring[p.ring_head];
        p.ring_head = (p.ring_head + 1) % max_in_flight;
        --p.ring_count;
        const Ticks at =
            p.time +
            (miss.limit > s.instructions ? (miss.limit - s.instructions) * p.instruction : 0);
        if (miss.ready > at) {
            s.stall_ticks += miss.ready - at;
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
        s.deferred.pop_back();
        s.skip += to - s.instructions;
        slow_access(p, s, step, to, at, horizon, 0);
    } else {
        s.instructions -= s.skip;
        // A sibling that became busy meanwhile makes the same instructions longer.
        p.time -= std::min(p.time, s.skip * p.instruction);
        s.skip = 0;
    }
    set_watch(p, s);
    return true;
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
    PrivateCaches& c = memory_.caches(p.slot);
    const bool atomic = (step.flags & step_atomic) != 0;
    if (at > horizon && !memory_.stays_private(c, step)) {
        p.key = at;
        return false;
    }
    s.instructions = issue;
    p.time = at;
    if (atomic) drain(p, s);
    const Ticks issued = p.time;
    const Ticks walked = issued + memory_.translate(c, step.line >> page_shift);
    const Served served = memory_.access(p.slot, step, walked);
    s.counts[data_cache_loads] += step.reads;
    s.counts[data_cache_stores] += step.writes;
    if (atomic) ++s.counts[atomics];
    const Ticks ready =
        std::max(served.ready, issued + (atomic ? machine_->atomic_hit : machine_->l1_hit));
    if (atomic || served.contended) {
        p.time = ready;
    } else if ((step.flags & step_dependent) != 0) {
        const Ticks hidden = next_gap * p.instruction;
        if (ready > issued + hidden) p.time = ready - hidden;
    } else if (served.ready > issued) {
        overlap(p, s, ready);
    }
    s.stall_ticks += p.time - issued;
    if ((step.flags & (step_run | step_free)) == step_run) remember_run(s, step, issue);
    if (!memory_.lost().empty()) split_lost_runs();
    return true;
}

// The miss goes on while later instructions issue, as far as window and miss buffers allow.
void Simulation::overlap(Pu& p, Stream& s, Ticks ready) {
    while (p.ring_count != 0 && p.ring[p.ring_head].ready <= p.time) {
        p.ring_head = (p.ring_head + 1) % max_in_flight;
        --p.ring_count;
    }
    if (p.ring_count == machine_->misses_in_flight) {
        p.time = std::max(p.time, p.ring[p.ring_head].ready);
        p.ring_head = (p.ring_head + 1) % max_in_flight;
        --p.ring_count;
    }
    p.ring[(p.ring_head + p.ring_count) % max_in_flight] = {s.instructions + machine_->window,
                                                            ready};
    ++p.ring_count;
    set_watch(p, s);
}

void Simulation::drain(Pu& p, Stream& s) {
    Ticks last = p.time;
    for (; p.ring_count != 0; --p.ring_count) {
        last = std::max(last, p.ring[p.ring_head].ready);
        p.ring_head = (p.ring_head + 1) % max_in_flight;
    }
    s.stall_ticks += last - p.time;
    p.time = last;
    set_watch(p, s);
}

void Simulation::remember_run(Stream& s, const Step& step, std::uint64_t at) {
    s.open[s.next_open] = {step.line, at, at + step.span, step};
    s.next_open = (s.next_open + 1) % 8;
}

void Simulation::split_lost_runs() {
    for (const Lost& lost : memory_.lost()) {
        if (!in_region_) break;
        for (const std::uint32_t index : pus_of_slot_[lost.slot]) {
            Pu& p = pus_[index];
            if (p.stream == nobody) continue;
            Stream& v = streams_[p.stream];
            // How far the victim has come by now: it may be in the middle of a gap.
            std::uint64_t here = v.instructions;
            if (heap_key(0) > p.time)
                here +=
                    std::min<std::uint64_t>((heap_key(0) - p.time) / p.instruction,
                                            v.at->gap - std::min<std::uint64_t>(v.skip, v.at->gap));
            for (OpenRun& run : v.open) {
                if (run.line != lost.line || run.end <= here) continue;
                const std::uint64_t span = run.end - run.start;
                const std::uint64_t from = std::max(here, run.start);
                // What was carried out when the run began: one access of each kind it has.
                const std::uint32_t first = (run.step.reads != 0) + (run.step.writes != 0);
                const std::uint32_t all = run.step.reads + run.step.writes;
                const std::uint64_t rest_all = (all - first) * (run.end - from) / span;
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
                const std::uint64_t at = std::min(run.end, from + std::max<std::uint64_t>(step, 1));
                rest.span = static_cast<std::uint16_t>(run.end - at);
                rest.gap = 0;
                if (rest.span == 0 || rest.reads + rest.writes == 1)
                    rest.flags &= static_cast<std::uint8_t>(~step_run);
                run.line = 0;
                v.deferred.insert(
                    std::upper_bound(v.deferred.begin(), v.deferred.end(), at,
                                     [](std::uint64_t a, const Deferred& d) { return a > d.at; }),
                    Deferred{at, rest});
                set_watch(p, v);
                if (at > v.instructions)
                    heap_lower(index, p.time + (at - v.instructions) * p.instruction);
            }
        }
    }
    memory_.clear_lost();
}

// ---- synchronisation ----------------------------------------------------------------------------

void Simulation::touch_sync_line(Pu& p, Stream& s, Line line, bool write) {
    Step step{line,
              0,
              0,
              1,
              static_cast<std::uint16_t>(write ? 1 : 0),
              0,
              static_cast<std::uint8_t>(write ? step_atomic : 0)};
    slow_access(p, s, step, s.instructions, p.time, forever, 0);
    drain(p, s);
}

bool Simulation::synchronise(std::uint32_t pu, Stream& s, const Step& step) {
    Pu& p = pus_[pu];
    const Kind kind = static_cast<Kind>(step.kind);
    const std::uint32_t me = number_of(s);
    if (step.kind == kind_sentinel) {
        drain(p, s);
        finish(pu, s);
        return false;
    }
    ++s.at;
    switch (kind) {
        case Kind::lock: {
            drain(p, s);
            if ((step.flags & step_needs) != 0)
                for (const std::uint32_t token :
                     program_->lock_needs[step.reads | std::uint32_t{step.writes} << 16]) {
                    if (tokens_[token].core_plus_one == 0) {
                        --s.at;  // again, its gap used up
                        s.skip = step.gap;
                        s.resume = Resume::retry;
                        ++s.counts[await_waits];
                        token_waiters_[token].push_back(me);
                        block(pu, s, token);
                        return false;
                    }
                    see_token(p, s, tokens_[token]);
                }
            Lock& lock = locks_[step.line];
            if (lock.holder == me) {
                ++lock.depth;  // a recursive mutex
                return true;
            }
            const Line line = program_->first_lock_line + step.line;
            touch_sync_line(p, s, line, true);
            if (lock.holder == nobody) {
                lock.holder = me;
                ++s.counts[lock_acquisitions];
                return true;
            }
            ++s.counts[lock_waits];
            lock.waiters.push_back(me);
            s.resume = Resume::take_lock;
            s.resume_line = line;
            block(pu, s, step.line);
            return false;
        }
        case Kind::unlock: {
            drain(p, s);
            Lock& lock = locks_[step.line];
            if (lock.holder != me)
                throw SimulationError(
                    "malformed trace: " + where(s) + ": unlock of " +
                    std::to_string(program_->lock_objects[step.line]) +
                    (lock.holder == nobody
                         ? ", which nobody holds"
                         : ", which stream " + std::to_string(lock.holder) + " holds"));
            if (lock.depth != 0) {
                --lock.depth;
                return true;
            }
            touch_sync_line(p, s, program_->first_lock_line + step.line, true);
            if (lock.first_waiter == lock.waiters.size()) {
                lock.holder = nobody;
                return true;
            }
            lock.holder = lock.waiters[lock.first_waiter++];
            if (lock.first_waiter == lock.waiters.size()) {
                lock.waiters.clear();
                lock.first_waiter = 0;
            }
            wake(lock.holder, p.time);
            return true;
        }
        case Kind::barrier: {
            drain(p, s);
            Barrier& barrier = barriers_[step.line];
            const Line line = program_->first_barrier_line + step.line;
            touch_sync_line(p, s, line, true);
            if (barrier.waiting.empty()) barrier.expected = step.reads;
            if (barrier.expected != step.reads)
                throw SimulationError("malformed trace: " + where(s) + ": barrier " +
                                      std::to_string(program_->barrier_objects[step.line]) +
                                      " for " + std::to_string(step.reads) +
                                      " threads; the first to arrive said " +
                                      std::to_string(barrier.expected));
            if (barrier.waiting.size() + 1 < barrier.expected) {
                ++s.counts[barrier_waits];
                barrier.waiting.push_back(me);
                s.resume = Resume::leave_barrier;
                s.resume_line = line;
                block(pu, s, step.line);
                return false;
            }
            for (const std::uint32_t other : barrier.waiting) wake(other, p.time);
            barrier.waiting.clear();
            return true;
        }
        case Kind::post: {
            Token& token = tokens_[step.line];
            token.posted_at = p.time;
            token.core_plus_one = p.core + 1;
            if (const auto waiters = token_waiters_.find(step.line);
                waiters != token_waiters_.end()) {
                const std::vector<std::uint32_t> woken = std::move(waiters->second);
                token_waiters_.erase(waiters);
                for (const std::uint32_t other : woken) {
                    // It may have found something else to do, or wait for a lock by now.
                    const Stream& o = streams_[other];
                    if (o.status == Status::blocked &&
                        (o.resume == Resume::choose || o.resume == Resume::retry))
                        wake(other, p.time + memory_.transfer(p.core, pus_[o.pu].core));
                }
            }
            return true;
        }
        case Kind::await: {
            drain(p, s);
            const Token& token = tokens_[step.line];
            if (token.core_plus_one != 0) {
                see_token(p, s, token);
                return true;
            }
            ++s.counts[await_waits];
            s.frames.push_back({s.at, s.begin, s.source, step.line, s.instance, false});
            return choose(pu, s);
        }
        case Kind::unit_begin: {
            const Unit& own = program_->units[step.line];
            const auto& steps = program_->streams[own.stream].steps;
            const Step* after = &steps[std::min<std::size_t>(own.last + 1, steps.size() - 1)];
            s.at = after;
            if (!s.frames.empty()) return true;  // inside another unit: whoever is free takes it
            s.instance = own.instance;
            if (!unit_left(own.instance)) return true;
            s.frames.push_back(
                {after, s.begin, s.source, no_token, own.instance, own.last_of_stream});
            if (unit_ready(own.instance)) {
                begin_unit(s);
                return true;
            }
            return choose(pu, s);
        }
        case Kind::unit_end:
            ++s.counts[units_executed];
            return choose(pu, s);
        case Kind::roi_begin:
            begin_region(p.time);
            return true;
        case Kind::roi_end:
            drain(p, s);
            end_region(p.time);
            return true;
        case Kind::heartbeat:
            s.counts[useful_work] += step.line;
            return true;
        default:
            return true;
    }
}

void Simulation::see_token(Pu& p, Stream& s, const Token& token) {
    const std::uint32_t from = token.core_plus_one - 1;
    const Ticks seen = token.posted_at + (from == p.core ? 0 : memory_.transfer(from, p.core));
    if (seen > p.time) {
        s.sync_ticks += seen - p.time;
        p.time = seen;
    }
}

void Simulation::resume_frame(Stream& s, std::size_t index) {
    const Frame frame = s.frames[index];
    s.frames.erase(s.frames.begin() + static_cast<std::ptrdiff_t>(index));
    s.at = frame.at;
    s.begin = frame.begin;
    s.source = frame.source;
    s.instance = frame.instance;
}

// Finds the stream something to go on with; false when it has to wait.
bool Simulation::choose(std::uint32_t pu, Stream& s) {
    for (std::size_t i = s.frames.size(); i-- > 0;) {
        const std::uint32_t number = s.frames[i].token;
        if (number == no_token || tokens_[number].core_plus_one == 0) continue;
        resume_frame(s, i);
        see_token(pus_[pu], s, tokens_[number]);
        return true;
    }
    const bool own_code = !s.frames.empty() && s.frames.back().token == no_token;
    const bool more =
        s.instance != nobody && unit_left(s.instance) && (!own_code || s.frames.back().repeat);
    if (more && unit_ready(s.instance)) {
        begin_unit(s);
        return true;
    }
    if (own_code && !more) {
        resume_frame(s, s.frames.size() - 1);
        return true;
    }
    if (s.frames.empty())
        throw SimulationError("malformed trace: " + where(s) + ": a work unit ends outside of one");
    std::uint32_t waits_for = no_token;
    for (const Frame& frame : s.frames)
        if (frame.token != no_token) {
            waits_for = frame.token;
            token_waiters_[waits_for].push_back(number_of(s));
        }
    if (more) {
        const std::uint32_t created = next_unit(s.instance).created;
        token_waiters_[created].push_back(number_of(s));
        if (waits_for == no_token) waits_for = created;
    }
    s.resume = Resume::choose;
    block(pu, s, waits_for);
    return false;
}

bool Simulation::unit_left(std::uint32_t instance) const {
    return next_of_instance_[instance] < program_->instances[instance].units.size();
}

const Unit& Simulation::next_unit(std::uint32_t instance) const {
    return program_->units[program_->instances[instance].units[next_of_instance_[instance]]];
}

// Whether the next unit in order exists already (a task: its creator has posted its token).
bool Simulation::unit_ready(std::uint32_t instance) const {
    if (!unit_left(instance)) return false;
    const std::uint32_t created = next_unit(instance).created;
    return created == no_token || tokens_[created].core_plus_one != 0;
}

void Simulation::begin_unit(Stream& s) {
    const Unit& unit = next_unit(s.instance);
    ++next_of_instance_[s.instance];
    s.source = unit.stream;
    s.begin = program_->streams[unit.stream].steps.data();
    s.at = s.begin + unit.first;
}

// ---- run queues ---------------------------------------------------------------------------------

void Simulation::block(std::uint32_t pu, Stream& s, std::uint32_t waits_for) {
    Pu& p = pus_[pu];
    account(s, p.time);
    s.status = Status::blocked;
    s.blocked_at = p.time;
    s.waits_for = waits_for;
    p.stream = nobody;
    give_pu(pu);
}

void Simulation::finish(std::uint32_t pu, Stream& s) {
    Pu& p = pus_[pu];
    account(s, p.time);
    s.status = Status::finished;
    p.stream = nobody;
    give_pu(pu);
}

void Simulation::wake(std::uint32_t number, Ticks at) {
    Stream& s = streams_[number];
    const bool slept = at > s.blocked_at + machine_->spin;
    s.ready_at = at + (slept && s.status == Status::blocked ? machine_->wake : 0);
    account(s, s.ready_at);
    s.status = Status::ready;
    yield_ = true;
    Pu& p = pus_[s.pu];
    if (p.stream == nobody) {
        start_on(s.pu, number);
    } else {
        if (p.queue.empty()) p.slice_end = std::max(p.time, at) + machine_->time_slice;
        p.queue.push_back(number);
    }
}

// The PU's stream has left it: the next one that is ready, or the first to become so.
void Simulation::give_pu(std::uint32_t index) {
    Pu& p = pus_[index];
    p.stream = nobody;
    if (p.queue.empty()) {
        update_siblings(p.core);
        return;
    }
    std::size_t best = 0;
    for (std::size_t i = 0; i < p.queue.size(); ++i) {
        const Ticks ready = streams_[p.queue[i]].ready_at;
        if (ready <= p.time) {
            best = i;
            break;
        }
        if (ready < streams_[p.queue[best]].ready_at) best = i;
    }
    const std::uint32_t next = p.queue[best];
    p.queue.erase(p.queue.begin() + static_cast<std::ptrdiff_t>(best));
    start_on(index, next);
    p.slice_end = p.time + machine_->time_slice;
}

void Simulation::start_on(std::uint32_t index, std::uint32_t number) {
    Pu& p = pus_[index];
    Stream& s = streams_[number];
    if (p.slot == nobody) {
        p.slot = memory_.slot_of(p.core);
        pus_of_slot_[p.slot].push_back(index);
    }
    p.time = std::max(p.time, s.ready_at);
    if (p.last_stream != nobody && p.last_stream != number) {
        ++s.counts[context_switches];
        p.time += machine_->context_switch;
    }
    p.last_stream = number;
    p.stream = number;
    p.key = p.time;
    account(s, p.time);
    s.status = Status::running;
    p.ring_count = 0;
    set_watch(p, s);
    update_siblings(p.core);
    if (!p.in_heap) heap_push(index);
}

void Simulation::update_siblings(std::uint32_t core) {
    std::uint32_t active = 0;
    for (const Pu& p : pus_) active += p.core == core && p.stream != nobody;
    const double factor = active > 1 ? machine_->smt_slowdown : 1.0;
    for (Pu& p : pus_)
        if (p.core == core)
            p.instruction = static_cast<Ticks>(
                std::llround(static_cast<double>(machine_->instruction) * factor));
}

void Simulation::bind(std::uint32_t number, std::uint32_t pu) {
    if (number >= streams_.size() || pu >= pus_.size())
        throw SimulationError("cannot bind stream " + std::to_string(number) + " to PU " +
                              std::to_string(pu) + ": there are " +
                              std::to_string(streams_.size()) + " streams and " +
                              std::to_string(pus_.size()) + " PUs");
    Stream& s = streams_[number];
    if (s.pu == pu) return;
    const std::uint32_t old = s.pu;
    settle_any_core(s);
    s.pu = pu;
    s.any_seen = memory_.any_core(machine_->llc_of_core[pus_[pu].core]);
    if (s.status == Status::finished) return;
    ++s.counts[migrations];
    if (s.status == Status::blocked) return;
    Pu& from = pus_[old];
    if (s.status == Status::running) {
        drain(from, s);
        compute_until(from, s, now_);
        account(s, from.time);
        s.ready_at = from.time + machine_->migration;
        from.stream = nobody;
        give_pu(old);
    } else {
        std::erase(from.queue, number);
        s.ready_at = std::max(s.ready_at, now_) + machine_->migration;
    }
    s.status = Status::ready;
    Pu& to = pus_[pu];
    if (to.stream == nobody) {
        start_on(pu, number);
    } else {
        if (to.queue.empty()) to.slice_end = std::max(to.time, now_) + machine_->time_slice;
        to.queue.push_back(number);
    }
    heap_.clear();
    for (std::uint32_t i = 0; i < pus_.size(); ++i) {
        pus_[i].in_heap = false;
        if (pus_[i].stream != nobody) heap_push(i);
    }
}

Ticks Simulation::move_page(std::uint64_t virtual_page, std::uint32_t node) {
    if (node >= machine_->nodes)
        throw SimulationError("no node " + std::to_string(node) + "; the machine has " +
                              std::to_string(machine_->nodes));
    const std::uint32_t page = program_->page_of(virtual_page);
    if (page == 0) return 0;
    const Ticks cost = memory_.move_page(page, node, now_);
    if (!heap_.empty()) split_lost_runs();
    memory_.clear_lost();
    return cost;
}

std::int64_t Simulation::node_of_page(std::uint64_t virtual_page) const {
    const std::uint32_t page = program_->page_of(virtual_page);
    if (page == 0 || !memory_.page_mapped(page)) return -1;
    return memory_.node_of_page(page);
}

// ---- heap of PUs, earliest first ----------------------------------------------------------------

void Simulation::sift_up(std::size_t i) {
    const std::uint64_t entry = heap_[i];
    for (; i > 0 && heap_[(i - 1) / 2] > entry; i = (i - 1) / 2) heap_[i] = heap_[(i - 1) / 2];
    heap_[i] = entry;
}

void Simulation::sift_down(std::size_t i) {
    const std::uint64_t entry = heap_[i];
    const std::size_t size = heap_.size();
    for (;;) {
        std::size_t child = 2 * i + 1;
        if (child >= size) break;
        if (child + 1 < size && heap_[child + 1] < heap_[child]) ++child;
        if (heap_[child] >= entry) break;
        heap_[i] = heap_[child];
        i = child;
    }
    heap_[i] = entry;
}

void Simulation::heap_push(std::uint32_t pu) {
    heap_.push_back(pus_[pu].key << pu_bits | pu);
    pus_[pu].in_heap = true;
    sift_up(heap_.size() - 1);
}

void Simulation::heap_set_root(Ticks key) {
    heap_[0] = key << pu_bits | heap_pu(0);
    sift_down(0);
}

void Simulation::heap_pop_root() {
    pus_[heap_pu(0)].in_heap = false;
    heap_[0] = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0);
}

void Simulation::heap_lower(std::uint32_t pu, Ticks key) {
    if (key >= pus_[pu].key) return;
    pus_[pu].key = key;
    for (std::size_t i = 1; i < heap_.size(); ++i)
        if (heap_pu(i) == pu) {
            heap_[i] = std::max(key, heap_key(0)) << pu_bits | pu;
            sift_up(i);
            return;
        }
}

// ---- samples ------------------------------------------------------------------------------------

void Simulation::account(Stream& s, Ticks until) {
    if (until <= s.accounted) return;
    const Ticks time = until - s.accounted;
    s.accounted = until;
    if (s.status == Status::running)
        s.run_ticks += time;
    else if (s.status != Status::finished)
        s.halted_ticks += time;
    if (s.status == Status::blocked) s.sync_ticks += time;
}

void Simulation::account_all(Ticks until) {
    for (Stream& s : streams_) account(s, until);
}

void Simulation::settle_any_core(Stream& s) {
    const Memory::AnyCore now = memory_.any_core(machine_->llc_of_core[pus_[s.pu].core]);
    s.any_reads += now.reads - s.any_seen.reads;
    s.any_modifies += now.modifies - s.any_seen.modifies;
    s.any_seen = now;
}

Counts Simulation::counts_at(const Stream& s, Ticks at) const {
    Counts n = s.counts;
    const Pu& p = pus_[s.pu];
    std::uint64_t done = s.instructions;
    if (s.status == Status::running && at > p.time)
        done += std::min<std::uint64_t>((at - p.time) / p.instruction, s.at->gap);
    done = std::max(done, s.last_instructions);
    n[instructions] = done;
    n[retired_uops] =
        static_cast<std::uint64_t>(static_cast<double>(done) * machine_->uops_per_instruction);
    n[cycles] = clocks(s.run_ticks);
    n[cpu_clocks_halted] = clocks(s.halted_ticks);
    n[stall_cycles_memory] = clocks(s.stall_ticks);
    n[stall_cycles_sync] = clocks(s.sync_ticks);
    n[data_cache_accesses] = n[data_cache_loads] + n[data_cache_stores];
    n[dtlb_accesses] = n[data_cache_accesses];
    const Memory::AnyCore& seen = memory_.any_core(machine_->llc_of_core[p.core]);
    const std::uint64_t reads = s.any_reads + seen.reads - s.any_seen.reads;
    const std::uint64_t modifies = s.any_modifies + seen.modifies - s.any_seen.modifies;
    n[read_requests_to_llc_any_core] = reads + modifies;
    n[exclusive_read_requests_to_llc_any_core] = reads;
    n[modify_read_requests_to_llc_any_core] = modifies;
    return n;
}

void Simulation::take_sample(Ticks at) {
    if (samples_.size() * streams_.size() * sizeof(Counts) > most_sample_bytes)
        throw SimulationError("the samples take more than 2 GiB; use a longer sample period than " +
                              std::to_string(clocks(options_.sample_period)) + " clocks");
    Sample sample;
    sample.start = last_sample_ - region_start_;
    sample.end = at - region_start_;
    sample.progress = progress();
    sample.counts.reserve(streams_.size());
    for (Stream& s : streams_) {
        const Counts now = counts_at(s, at);
        s.last_instructions = now[instructions];
        Counts since;
        // A run that was split after it had been counted can take a few accesses back.
        for (std::size_t i = 0; i < n_counters; ++i)
            since[i] = now[i] > s.sampled[i] ? now[i] - s.sampled[i] : 0;
        for (std::size_t i = 0; i < n_counters; ++i) s.sampled[i] += since[i];
        sample.counts.push_back(since);
    }
    last_sample_ = at;
    samples_.push_back(std::move(sample));
}

double Simulation::progress() const {
    if (ended_) return 1.0;
    if (!in_region_ || region_instructions_ == 0) return 0.0;
    std::uint64_t done = 0;
    for (const Stream& s : streams_) done += s.instructions;
    return std::min(1.0, static_cast<double>(done - region_done_before_) /
                             static_cast<double>(region_instructions_));
}

std::vector<Counts> Simulation::totals() const {
    std::vector<Counts> result;
    result.reserve(streams_.size());
    for (const Stream& s : streams_) {
        Counts n = counts_at(s, now_);
        for (std::size_t i = 0; i < n_counters; ++i)
            n[i] = n[i] > s.baseline[i] ? n[i] - s.baseline[i] : 0;
        result.push_back(n);
    }
    return result;
}

void Simulation::begin_region(Ticks at) {
    in_region_ = true;
    region_start_ = last_sample_ = now_ = at;
    account_all(at);
    std::uint64_t total = 0;
    region_done_before_ = 0;
    for (Stream& s : streams_) {
        if (s.at != nullptr) settle_any_core(s);
        s.baseline = counts_at(s, at);
        s.sampled = s.baseline;
        region_done_before_ += s.instructions;
    }
    for (const StreamPlan& plan : program_->streams) total += plan.instructions;
    region_instructions_ = total - std::min(total, region_done_before_);
    next_sample_ = options_.sample_period != 0 ? at + options_.sample_period : forever;
    target_ = std::min(forever, at + wanted_);
    set_stop();
    yield_ = true;
}

void Simulation::end_region(Ticks at) {
    now_ = at;
    account_all(at);
    ended_ = true;
    yield_ = true;
    if (at > last_sample_ || samples_.empty()) take_sample(at);
}

// ---- messages -----------------------------------------------------------------------------------

// The step before `at`: the one under way.
std::string Simulation::where(const Stream& s) const {
    std::string text = "stream " + std::to_string(number_of(s));
    if (s.source != number_of(s))
        text += " (in a work unit of stream " + std::to_string(s.source) + ")";
    return text + ", event " + std::to_string(s.at - s.begin - 1);
}

void Simulation::deadlock() const {
    std::string text = "the replay is deadlocked:";
    int listed = 0, more = 0;
    for (const Stream& s : streams_) {
        if (s.status != Status::blocked) continue;
        if (listed == 8) {
            ++more;
            continue;
        }
        text += (listed++ == 0 ? " " : "; ") + where(s);
        if (s.resume == Resume::take_lock) {
            const std::uint32_t lock = s.resume_line - program_->first_lock_line;
            text += ": lock of " + std::to_string(program_->lock_objects[lock]) +
                    ", held by stream " + std::to_string(locks_[lock].holder);
        } else if (s.resume == Resume::leave_barrier) {
            const std::uint32_t barrier = s.resume_line - program_->first_barrier_line;
            text += ": barrier " + std::to_string(program_->barrier_objects[barrier]) + ", " +
                    std::to_string(barriers_[barrier].waiting.size()) + " of " +
                    std::to_string(barriers_[barrier].expected) + " have arrived";
        } else {
            text += ": await of token " + std::to_string(program_->tokens[s.waits_for]);
        }
    }
    if (more != 0) text += "; and " + std::to_string(more) + " more";
    throw SimulationError(text);
}

}  // namespace autofinity::sim
