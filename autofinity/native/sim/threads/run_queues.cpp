// Which stream runs on which PU.
#include <algorithm>

#include "sim/error.hpp"
#include "sim/replay/issue.hpp"

namespace autofinity::sim {

void Simulation::block(std::uint32_t pu, Stream& s) {
    Pu& p = pus_[pu];
    account(s, p.time);
    s.status = Status::blocked;
    s.blocked_at = s.left_pu = p.time;
    p.stream = nobody;
    give_pu(pu);
}

void Simulation::finish(std::uint32_t pu, Stream& s) {
    Pu& p = pus_[pu];
    const Ticks at = p.time;
    account(s, at);
    s.status = Status::absent;
    p.stream = nobody;
    give_pu(pu);
    if (--runs_[s.process].live == 0) end_region(s.process, at);
}

void Simulation::wake(std::uint32_t number, Ticks at) {
    Stream& s = streams_[number];
    const bool slept = at > s.blocked_at + machine_->spin;
    s.ready_at = at + (slept && s.status == Status::blocked ? machine_->wake : 0);
    account(s, s.ready_at);
    if (s.resume == Resume::choose) std::erase(idle_streams_, number);
    s.status = Status::ready;
    yield_ = true;
    if (os_) place(s, slept);
    enqueue(number, at);
}

// Behind the stream that runs there, which may be in the middle of a gap longer than its slice.
void Simulation::queue_on(std::uint32_t pu, std::uint32_t number, Ticks now) {
    Pu& p = pus_[pu];
    if (p.queue.empty()) {
        p.slice_end = now + machine_->time_slice;
        if (p.slice_end < p.key) {
            p.key = p.slice_end;
            due_.advance(pu, p.key);
        }
    }
    p.queue.push_back(number);
}

// The PU's stream has left it: the next one that is ready, or the first to become so.
void Simulation::give_pu(std::uint32_t index) {
    Pu& p = pus_[index];
    p.stream = nobody;
    if (p.queue.empty()) {
        if (os_ && pull_to(index)) return;
        tell_siblings(p, p.time);
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
        p.slot = slot_for(p.core);
        pus_of_slot_[p.slot].push_back(index);
    }
    p.time = p.stalled_until = std::max(p.time, s.ready_at);
    p.stalled_from = 0;
    if (p.last_stream != nobody && p.last_stream != number) {
        ++s.counts[context_switches];
        p.time += machine_->context_switch;
    }
    p.last_stream = number;
    p.stream = number;
    p.key = p.time;
    account(s, p.time);
    s.status = Status::running;
    s.foreseen.at = nullptr;  // the sets that it knows may be of a core that has been given up
    p.ring_count = 0;
    set_watch(p, s);
    tell_siblings(p, p.stalled_until);
    if (!due_.contains(index)) due_.push(index, p.key);
}

// The stream belongs to another PU from now on.
void Simulation::assign(Stream& s, std::uint32_t pu) {
    settle_any_core(s);
    if (&kind_of(s) != pus_[pu].kind) settle_clocks(s);
    s.pu = pu;
    s.any_seen = memory_.any_core(machine_->topology.llc_of_core()[pus_[pu].core]);
}

// Takes the stream from its PU to another, whatever it is doing. The order of PUs is the caller's
// business.
void Simulation::move(std::uint32_t number, std::uint32_t pu, Ticks at) {
    Stream& s = streams_[number];
    if (s.status == Status::absent) {
        assign(s, pu);
        return;
    }
    ++s.counts[migrations];
    const std::uint32_t old = s.pu;
    Pu& from = pus_[old];
    const Status was = s.status;
    if (was == Status::running) {
        drain(from, s);
        compute_until(from, s, at);
        account(s, from.time);
        s.ready_at = from.time + machine_->migration;
        s.status = Status::ready;
        from.stream = nobody;
    } else if (was == Status::ready) {
        std::erase(from.queue, number);
        s.ready_at = std::max(s.ready_at, at) + machine_->migration;
    }
    assign(s, pu);
    if (was == Status::running) give_pu(old);
    if (was != Status::blocked) enqueue(number, at);
}

// The stream is ready: it starts on its PU, or waits for its turn there.
void Simulation::enqueue(std::uint32_t number, Ticks at) {
    const std::uint32_t pu = streams_[number].pu;
    if (pus_[pu].stream == nobody)
        start_on(pu, number);
    else
        queue_on(pu, number, std::max(pus_[pu].time, at));
}

void Simulation::bind(std::uint32_t number, std::uint32_t pu, bool stay) {
    if (number >= streams_.size() || pu >= pus_.size())
        throw SimulationError("cannot bind stream " + std::to_string(number) + " to PU " +
                              std::to_string(pu) + ": there are " +
                              std::to_string(streams_.size()) + " streams and " +
                              std::to_string(pus_.size()) + " PUs");
    if (os_ && stay) {
        os_->keep_on(number, pu);
        streams_[number].placed = true;
    }
    const Stream& s = streams_[number];
    if (s.pu == pu) return;
    if (s.status == Status::running || s.status == Status::ready)
        overhead_[Overhead::thread_migration] += machine_->migration;
    move(number, pu, now_);
    order_anew();
}

void Simulation::order_anew() {
    due_.clear();
    for (std::uint32_t i = 0; i < pus_.size(); ++i)
        if (pus_[i].stream != nobody) due_.push(i, pus_[i].key);
}

}  // namespace autofinity::sim
