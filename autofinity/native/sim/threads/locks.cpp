#include "locks.hpp"

#include <algorithm>
#include <string>

#include "sim/error.hpp"

namespace autofinity::sim {

// Checks the tokens that must have been posted before the lock may be taken.
Locks::Needs Locks::meet_needs(std::uint32_t pu, Stream& s, const Step& step) {
    Pu& p = board_.pus[pu];
    const Ticks due = p.time;
    const auto again = [&] {  // the step again, its gap used up
        --s.position.at;
        s.skip = step.gap();
    };
    for (const std::uint32_t token : program_.lock_needs[step.needs()]) {
        if (!tokens_.posted(token)) {
            again();
            s.resume = Resume::retry;
            ++s.account.counts[await_waits];
            tokens_.await(token, board_.number_of(s), Resume::retry);
            run_queues_.block(pu, s);
            return Needs::blocked;
        }
        tokens_.see(p, s, token);
    }
    if (p.time == due) return Needs::met;
    again();  // others may take the lock before this stream sees that it may
    p.set_watch(s);
    board_.yield = true;
    return Needs::waited;
}

bool Locks::take(std::uint32_t pu, Stream& s, const Step& step) {
    Pu& p = board_.pus[pu];
    const std::uint32_t me = board_.number_of(s);
    issue_.drain(p, s);
    if (step.has_needs())
        if (const Needs needs = meet_needs(pu, s, step); needs != Needs::met)
            return needs == Needs::waited;
    Lock& lock = locks_[step.lock()];
    if (lock.holder.stream == me) {
        ++lock.depth;  // a recursive mutex
        return true;
    }
    const Line line = program_.first_lock_line + step.lock();
    accesses_.touch(p, s, line, true);
    const bool shared = reads(s);
    if (lock.holder.stream == nobody && (shared || lock.readers.empty())) {
        hold(lock, s);
        ++s.account.counts[lock_acquisitions];
        return true;
    }
    ++s.account.counts[lock_waits];
    lock.waiters.push_back(me);
    lock.waiting_readers += shared;
    s.resume = Resume::take_lock;
    s.resume_line = line;
    run_queues_.block(pu, s);
    return false;
}

void Locks::hold(Lock& lock, const Stream& s) {
    const Holder holder{board_.number_of(s), s.position.source,
                        static_cast<std::uint32_t>(s.position.place() - 1)};
    if (reads(s))
        lock.readers.push_back(holder);
    else
        lock.holder = holder;
}

// No stream holds the lock: a waiting one may take it.
void Locks::pass_on(Lock& lock, Ticks at) {
    std::vector<std::uint32_t> next;
    if (lock.waiting_readers != 0) {
        std::erase_if(lock.waiters, [&](std::uint32_t stream) {
            const bool as_reader = reads(board_.streams[stream]);
            if (as_reader) next.push_back(stream);
            return as_reader;
        });
        lock.waiting_readers = 0;
    } else if (!lock.waiters.empty()) {
        next.push_back(lock.waiters.front());
        lock.waiters.erase(lock.waiters.begin());
    }
    for (const std::uint32_t stream : next) {
        hold(lock, board_.streams[stream]);
        run_queues_.wake(stream, at);
    }
}

void Locks::release(Pu& p, Stream& s, const Step& step) {
    issue_.drain(p, s);
    Lock& lock = locks_[step.lock()];
    const std::uint32_t me = board_.number_of(s);
    const auto reader = std::find_if(lock.readers.begin(), lock.readers.end(),
                                     [&](const Holder& each) { return each.stream == me; });
    if (lock.holder.stream != me && reader == lock.readers.end())
        throw SimulationError(
            "malformed trace: " + board_.where(s) + ": unlock of " +
            std::to_string(program_.lock_objects[step.lock()]) +
            (lock.holder.stream == nobody
                 ? ", which nobody holds"
                 : ", which stream " + std::to_string(lock.holder.stream) + " holds"));
    if (lock.depth != 0 && lock.holder.stream == me) {
        --lock.depth;
        return;
    }
    accesses_.touch(p, s, program_.first_lock_line + step.lock(), true);
    if (lock.holder.stream == me)
        lock.holder = {};
    else
        lock.readers.erase(reader);
    if (lock.readers.empty()) pass_on(lock, p.time);
}

void Locks::forget(const Process& process) {
    for (std::uint32_t i = process.first_lock; i < process.first_lock + process.locks; ++i)
        locks_[i] = {};
}

}  // namespace autofinity::sim
