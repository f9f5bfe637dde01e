// Locks, barriers and tokens: what a stream waits for and whom it wakes.
#include <algorithm>

#include "sim/error.hpp"
#include "sim/replay/issue.hpp"

namespace autofinity::sim {

using trace::Kind;

void Simulation::touch_sync_line(Pu& p, Stream& s, Line line, bool write) {
    slow_access(p, s, Step::touch(line, write), s.instructions, p.time, forever, 0);
    drain(p, s);
}

bool Simulation::synchronise(std::uint32_t pu, Stream& s, const Step& step) {
    Pu& p = pus_[pu];
    if (step.is_sentinel()) {
        drain(p, s);
        finish(pu, s);
        return false;
    }
    ++s.at;
    switch (step.kind()) {
        case Kind::lock:
            return take_lock(pu, s, step);
        case Kind::unlock:
            release_lock(p, s, step);
            return true;
        case Kind::barrier:
            return arrive(pu, s, step);
        case Kind::post:
            post(p, step.token());
            return true;
        case Kind::await:
            return await(pu, s, step.token());
        case Kind::unit_begin:
            return reach_units(pu, s, program_->units[step.unit()]);
        case Kind::unit_end: {
            ++s.counts[units_executed];
            const Unit& unit = program_->units[step.unit()];
            if (unit.in_place) return true;
            if (unit.task) end_task(unit, p.time);
            return choose(pu, s);
        }
        case Kind::roi_begin:
            begin_region(s.process, p.time);
            return true;
        case Kind::roi_end:
            drain(p, s);
            end_region(s.process, p.time);
            return true;
        case Kind::heartbeat:
            s.counts[useful_work] += step.work();
            return true;
        default:
            return true;
    }
}

bool Simulation::take_lock(std::uint32_t pu, Stream& s, const Step& step) {
    Pu& p = pus_[pu];
    const std::uint32_t me = number_of(s);
    drain(p, s);
    if (step.has_needs()) {
        const Ticks due = p.time;
        for (const std::uint32_t token : program_->lock_needs[step.needs()]) {
            if (tokens_[token].core_plus_one == 0) {
                --s.at;  // again, its gap used up
                s.skip = step.gap();
                s.resume = Resume::retry;
                ++s.counts[await_waits];
                token_waiters_[token].push_back({me, Resume::retry});
                block(pu, s);
                return false;
            }
            see_token(p, s, tokens_[token]);
        }
        if (p.time != due) {  // others may take it before this one has seen that it may
            --s.at;
            s.skip = step.gap();
            set_watch(p, s);
            yield_ = true;
            return true;
        }
    }
    Lock& lock = locks_[step.lock()];
    if (lock.holder.stream == me) {
        ++lock.depth;  // a recursive mutex
        return true;
    }
    const Line line = program_->first_lock_line + step.lock();
    touch_sync_line(p, s, line, true);
    const bool shared = reads_lock(s);
    if (lock.holder.stream == nobody && (shared || lock.readers.empty())) {
        hold(lock, s);
        ++s.counts[lock_acquisitions];
        return true;
    }
    ++s.counts[lock_waits];
    lock.waiters.push_back(me);
    lock.waiting_readers += shared;
    s.resume = Resume::take_lock;
    s.resume_line = line;
    block(pu, s);
    return false;
}

void Simulation::hold(Lock& lock, const Stream& s) {
    const Holder holder{number_of(s), s.source, static_cast<std::uint32_t>(place_of(s) - 1)};
    if (reads_lock(s))
        lock.readers.push_back(holder);
    else
        lock.holder = holder;
}

// Nobody holds the lock: whoever waits may.
void Simulation::pass_on(Lock& lock, Ticks at) {
    std::vector<std::uint32_t> next;
    if (lock.waiting_readers != 0) {
        std::erase_if(lock.waiters, [&](std::uint32_t stream) {
            const bool reads = reads_lock(streams_[stream]);
            if (reads) next.push_back(stream);
            return reads;
        });
        lock.waiting_readers = 0;
    } else if (!lock.waiters.empty()) {
        next.push_back(lock.waiters.front());
        lock.waiters.erase(lock.waiters.begin());
    }
    for (const std::uint32_t stream : next) {
        hold(lock, streams_[stream]);
        wake(stream, at);
    }
}

void Simulation::release_lock(Pu& p, Stream& s, const Step& step) {
    drain(p, s);
    Lock& lock = locks_[step.lock()];
    const std::uint32_t me = number_of(s);
    const auto reader = std::find_if(lock.readers.begin(), lock.readers.end(),
                                     [&](const Holder& each) { return each.stream == me; });
    if (lock.holder.stream != me && reader == lock.readers.end())
        throw SimulationError(
            "malformed trace: " + where(s) + ": unlock of " +
            std::to_string(program_->lock_objects[step.lock()]) +
            (lock.holder.stream == nobody
                 ? ", which nobody holds"
                 : ", which stream " + std::to_string(lock.holder.stream) + " holds"));
    if (lock.depth != 0 && lock.holder.stream == me) {
        --lock.depth;
        return;
    }
    touch_sync_line(p, s, program_->first_lock_line + step.lock(), true);
    if (lock.holder.stream == me)
        lock.holder = {};
    else
        lock.readers.erase(reader);
    if (lock.readers.empty()) pass_on(lock, p.time);
}

bool Simulation::arrive(std::uint32_t pu, Stream& s, const Step& step) {
    Pu& p = pus_[pu];
    drain(p, s);
    Barrier& barrier = barriers_[step.barrier()];
    const Line line = program_->first_barrier_line + step.barrier();
    touch_sync_line(p, s, line, true);
    if (barrier.waiting.empty()) barrier.expected = step.participants();
    if (barrier.expected != step.participants())
        throw SimulationError("malformed trace: " + where(s) + ": barrier " +
                              std::to_string(program_->barrier_objects[step.barrier()]) + " for " +
                              std::to_string(step.participants()) +
                              " threads; the first to arrive said " +
                              std::to_string(barrier.expected));
    if (program_->instance_of_barrier[step.barrier()] != no_token) {
        // While it waits, the stream may carry out tasks.
        if (barrier.waiting.size() + 1 < barrier.expected) ++s.counts[barrier_waits];
        barrier.waiting.push_back(number_of(s));
        suspend(s, Until::released, step.barrier(), barrier.generation);
        release_if_complete(step.barrier(), p.time);
        s.resume = Resume::choose;  // when it is done with the line
        yield_ = true;
        return true;
    }
    if (barrier.waiting.size() + 1 < barrier.expected) {
        ++s.counts[barrier_waits];
        barrier.waiting.push_back(number_of(s));
        s.resume = Resume::leave_barrier;
        s.resume_line = line;
        block(pu, s);
        return false;
    }
    for (const std::uint32_t other : barrier.waiting) wake(other, p.time);
    barrier.waiting.clear();
    return true;
}

void Simulation::post(const Pu& p, std::uint32_t number) {
    tokens_[number] = {p.time, p.core + 1};
    const auto waiters = token_waiters_.find(number);
    if (waiters != token_waiters_.end()) {
        const std::vector<TokenWaiter> woken = std::move(waiters->second);
        token_waiters_.erase(waiters);
        for (const TokenWaiter& waiter : woken) {
            Stream& o = streams_[waiter.stream];
            if (waiter.as == Resume::choose) ++o.resumable;
            // It may have found something else to do, or wait for a lock by now.
            if (o.status == Status::blocked && o.resume == waiter.as)
                wake(waiter.stream, p.time + memory_.transfer(p.core, pus_[o.pu].core));
        }
    }
    if (const std::uint32_t task = program_->task_of_token[number]; task != no_token)
        offer_task(task, p.time);
}

bool Simulation::await(std::uint32_t pu, Stream& s, std::uint32_t number) {
    Pu& p = pus_[pu];
    drain(p, s);
    const Token& token = tokens_[number];
    if (token.core_plus_one != 0) {
        see_token(p, s, token);
        return true;
    }
    ++s.counts[await_waits];
    suspend(s, Until::posted, number);
    return choose(pu, s);
}

void Simulation::see_token(Pu& p, Stream& s, const Token& token) {
    const std::uint32_t from = token.core_plus_one - 1;
    const Ticks seen = token.posted_at + (from == p.core ? 0 : memory_.transfer(from, p.core));
    if (seen > p.time) {
        s.sync_ticks += seen - p.time;
        p.time = seen;
    }
}

}  // namespace autofinity::sim
