// What the operating system's scheduler does while a program runs: placing threads that wake,
// pulling waiting ones to PUs that run dry, balancing, and system threads that take a PU.
#include <algorithm>

#include "sim/replay/simulation.hpp"

namespace autofinity::sim {

OsScheduler::Loads Simulation::loads() const {
    OsScheduler::Loads loads(pus_.size());
    for (std::size_t i = 0; i < pus_.size(); ++i)
        loads[i] = static_cast<std::uint32_t>((pus_[i].stream != nobody) + pus_[i].queue.size());
    return loads;
}

// Chooses the PU of a stream that becomes ready; `slept`: it had left its PU for good.
void Simulation::place(Stream& s, bool slept) {
    const std::uint32_t near = waker_ == nobody ? s.pu : waker_;
    if (!s.placed) {
        assign(s, os_->place_new(number_of(s), near, loads()));
        s.placed = true;
        return;
    }
    if (!slept) return;
    const std::uint32_t pu = os_->place_woken(number_of(s), s.pu, near, loads());
    if (pu == s.pu) return;
    ++s.counts[migrations];
    assign(s, pu);
}

// The PU has nothing to run: it takes a stream that waits elsewhere and whose caches are cold.
bool Simulation::pull_to(std::uint32_t index) {
    Pu& p = pus_[index];
    for (const std::uint32_t from : os_->busy_near(index, loads()))
        for (const std::uint32_t number : pus_[from].queue) {
            Stream& s = streams_[number];
            if (!os_->may_run(number, index) || s.ready_at > p.time ||
                p.time < s.left_pu + machine_->cache_hot)
                continue;
            std::erase(pus_[from].queue, number);
            take_over(s, index, p.time);
            start_on(index, number);
            return true;
        }
    return false;
}

void Simulation::take_over(Stream& s, std::uint32_t pu, Ticks at) {
    ++s.counts[migrations];
    s.ready_at = std::max(s.ready_at, at) + machine_->migration;
    assign(s, pu);
}

void Simulation::os_events(Ticks at) {
    if (at >= next_balance_) {
        ++balance_tick_;
        next_balance_ = at + machine_->balance;
        for (const OsScheduler::Move& move : os_->balance(balance_tick_, loads()))
            carry_out(move, at);
    }
    if (at >= next_daemon_) {
        next_daemon_ = at + os_->until_daemon();
        const std::uint32_t pu = os_->any_pu();
        if (const std::uint32_t number = pus_[pu].stream; number != nobody)
            if (const auto to = os_->idle_near(number, pu, loads())) move(number, *to, at);
    }
    order_anew();
    set_stop();
}

void Simulation::carry_out(const OsScheduler::Move& wanted, Ticks at) {
    const Pu& from = pus_[wanted.from];
    if (wanted.running) {
        if (from.stream != nobody && os_->may_run(from.stream, wanted.to))
            move(from.stream, wanted.to, at);
        return;
    }
    for (const std::uint32_t number : from.queue)
        if (os_->may_run(number, wanted.to)) {
            move(number, wanted.to, at);
            return;
        }
}

// A slot for the core's caches. When all are taken, the core that has been idle longest gives up
// its own; its lines leave it as if others had pushed them out.
std::uint32_t Simulation::slot_for(std::uint32_t core) {
    if (memory_.has_room() || memory_.in_use(core)) return memory_.cached_core_of(core);
    std::uint32_t idlest = nobody;
    Ticks since = forever;
    for (std::uint32_t slot = 0; slot < memory_.cached_cores(); ++slot) {
        Ticks last = 0;
        bool busy = false;
        for (const std::uint32_t pu : pus_of_slot_[slot]) {
            busy |= pus_[pu].stream != nobody;
            last = std::max(last, pus_[pu].time);
        }
        if (busy || last >= since) continue;
        since = last;
        idlest = slot;
    }
    if (idlest != nobody) {
        for (const std::uint32_t pu : pus_of_slot_[idlest]) pus_[pu].slot = nobody;
        pus_of_slot_[idlest].clear();
        memory_.release(idlest);
        if (!due_.empty()) split_lost_bursts(due_.first_time());
        memory_.clear_lost();
    }
    return memory_.cached_core_of(core);
}

}  // namespace autofinity::sim
