#include "run_queues.hpp"

#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint32_t most_idle_slices = 1u << 16;

}  // namespace

void RunQueues::block(std::uint32_t pu, Stream& s) {
    Pu& p = board_.pus[pu];
    if (s.resume == Resume::choose) idle_.push_back(p.stream);
    accounting_.account(s, p.time);
    s.status = Status::blocked;
    s.blocked_at = s.left_pu = p.time;
    give_pu(pu);
}

void RunQueues::leave(std::uint32_t pu, Stream& s) {
    accounting_.account(s, board_.pus[pu].time);
    s.status = Status::absent;
    give_pu(pu);
}

void RunQueues::end_slice(std::uint32_t pu) {
    Pu& p = board_.pus[pu];
    Stream& s = board_.streams[p.stream];
    const std::uint64_t before = s.instructions;
    const Ticks started = p.slice_end - std::min(p.slice_end, machine_.time_slice);
    issue_.drain(p, s);
    p.compute_until(s, p.slice_end);
    if (s.instructions != before || p.time > started)
        idle_slices_ = 0;
    else if (++idle_slices_ > most_idle_slices)
        throw SimulationError("the replay stands still: " + board_.where(s) +
                              " gets its time slices and makes no progress");
    accounting_.account(s, p.time);
    s.status = Status::ready;
    s.ready_at = s.left_pu = p.time;
    p.queue.push_back(p.stream);
    give_pu(pu);
}

void RunQueues::wake(std::uint32_t number, Ticks at) {
    Stream& s = board_.streams[number];
    const bool slept = at > s.blocked_at + machine_.spin;
    s.ready_at = at + (slept && s.status == Status::blocked ? machine_.wake : 0);
    accounting_.account(s, s.ready_at);
    if (s.resume == Resume::choose) std::erase(idle_, number);
    s.status = Status::ready;
    board_.yield = true;
    if (os_ != nullptr) place(s, slept);
    enqueue(number, at);
}

// The stream is ready: it starts on its PU, or waits for its turn there.
void RunQueues::enqueue(std::uint32_t number, Ticks at) {
    const std::uint32_t pu = board_.streams[number].pu;
    if (board_.pus[pu].stream == nobody)
        start_on(pu, number);
    else
        queue_on(pu, number, std::max(board_.pus[pu].time, at));
}

// Queues a stream behind the running one, which may be in the middle of a gap longer than its
// slice.
void RunQueues::queue_on(std::uint32_t pu, std::uint32_t number, Ticks now) {
    Pu& p = board_.pus[pu];
    if (p.queue.empty()) {
        p.slice_end = now + machine_.time_slice;
        if (p.slice_end < p.key) board_.advance(pu, p.slice_end);
    }
    p.queue.push_back(number);
}

// The PU's stream has left: the PU takes the next stream that is ready, or the first to become so.
void RunQueues::give_pu(std::uint32_t index) {
    Pu& p = board_.pus[index];
    p.stream = nobody;
    if (p.queue.empty()) {
        if (os_ != nullptr && pull_to(index)) return;
        siblings_.tell(p, p.time);
        return;
    }
    std::size_t best = 0;
    for (std::size_t i = 0; i < p.queue.size(); ++i) {
        const Ticks ready = board_.streams[p.queue[i]].ready_at;
        if (ready <= p.time) {
            best = i;
            break;
        }
        if (ready < board_.streams[p.queue[best]].ready_at) best = i;
    }
    const std::uint32_t next = p.queue[best];
    p.queue.erase(p.queue.begin() + static_cast<std::ptrdiff_t>(best));
    start_on(index, next);
    p.slice_end = p.time + machine_.time_slice;
}

void RunQueues::start_on(std::uint32_t index, std::uint32_t number) {
    Pu& p = board_.pus[index];
    Stream& s = board_.streams[number];
    cached_cores_.admit(index);
    p.time = p.stalled_until = std::max(p.time, s.ready_at);
    p.stalled_from = 0;
    if (p.last_stream != nobody && p.last_stream != number) {
        ++s.account.counts[context_switches];
        p.time += machine_.context_switch;
    }
    p.last_stream = number;
    p.stream = number;
    p.key = p.time;
    accounting_.account(s, p.time);
    s.status = Status::running;
    s.foreseen.at = nullptr;  // its known sets may be of a core that has lost its caches
    p.misses.clear();
    p.set_watch(s);
    siblings_.tell(p, p.stalled_until);
    if (!board_.due.contains(index)) board_.due.push(index, p.key);
}

void RunQueues::move(std::uint32_t number, std::uint32_t pu, Ticks at) {
    Stream& s = board_.streams[number];
    if (s.status == Status::absent) {
        accounting_.assign(s, pu);
        return;
    }
    ++s.account.counts[migrations];
    const std::uint32_t old = s.pu;
    Pu& from = board_.pus[old];
    const Status was = s.status;
    if (was == Status::running) {
        issue_.drain(from, s);
        from.compute_until(s, at);
        accounting_.account(s, from.time);
        s.ready_at = from.time + machine_.migration;
        s.status = Status::ready;
        from.stream = nobody;
    } else if (was == Status::ready) {
        std::erase(from.queue, number);
        s.ready_at = std::max(s.ready_at, at) + machine_.migration;
    }
    accounting_.assign(s, pu);
    if (was == Status::running) give_pu(old);
    if (was != Status::blocked) enqueue(number, at);
}

void RunQueues::take_off(const Process& process, Ticks at) {
    const auto theirs = [&](std::uint32_t stream) {
        return stream - process.first_stream < process.streams;
    };
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < board_.pus.size(); ++i) {
        Pu& p = board_.pus[i];
        std::erase_if(p.queue, theirs);
        if (p.stream == nobody || !theirs(p.stream)) continue;
        issue_.drain(p, board_.streams[p.stream]);
        p.stream = nobody;
        left.push_back(i);
    }
    for (std::uint32_t i = process.first_stream; i < process.first_stream + process.streams; ++i) {
        accounting_.account(board_.streams[i], at);
        board_.streams[i].status = Status::absent;
    }
    for (const std::uint32_t i : left) give_pu(i);
}

void RunQueues::forget(const Process& process) {
    std::erase_if(idle_, [&](std::uint32_t stream) {
        return stream - process.first_stream < process.streams;
    });
}

OsScheduler::Loads RunQueues::loads() const {
    OsScheduler::Loads loads(board_.pus.size());
    for (std::size_t i = 0; i < loads.size(); ++i) {
        const Pu& p = board_.pus[i];
        loads[i] = static_cast<std::uint32_t>((p.stream != nobody) + p.queue.size());
    }
    return loads;
}

// Chooses the PU of a stream that becomes ready; `slept`: the stream had left its PU for good.
void RunQueues::place(Stream& s, bool slept) {
    const std::uint32_t number = board_.number_of(s);
    const std::uint32_t near = board_.turn == nobody ? s.pu : board_.turn;
    if (!s.placed) {
        accounting_.assign(s, os_->place_new(number, near, loads()));
        s.placed = true;
        return;
    }
    if (!slept) return;
    const std::uint32_t pu = os_->place_woken(number, s.pu, near, loads());
    if (pu == s.pu) return;
    ++s.account.counts[migrations];
    accounting_.assign(s, pu);
}

// The PU has nothing to run: it takes a stream that waits elsewhere and whose caches are cold.
bool RunQueues::pull_to(std::uint32_t index) {
    const Pu& p = board_.pus[index];
    for (const std::uint32_t from : os_->busy_near(index, loads()))
        for (const std::uint32_t number : board_.pus[from].queue) {
            Stream& s = board_.streams[number];
            if (!os_->may_run(number, index) || s.ready_at > p.time ||
                p.time < s.left_pu + machine_.cache_hot)
                continue;
            std::erase(board_.pus[from].queue, number);
            ++s.account.counts[migrations];
            s.ready_at = std::max(s.ready_at, p.time) + machine_.migration;
            accounting_.assign(s, index);
            start_on(index, number);
            return true;
        }
    return false;
}

}  // namespace autofinity::sim
