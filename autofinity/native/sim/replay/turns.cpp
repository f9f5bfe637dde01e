// Whose turn it is: the PU that is due first, until it comes to the horizon that the others set it,
// or its time slice is over.
#include <algorithm>

#include "sim/error.hpp"
#include "steps.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint32_t most_idle_slices = 1u << 16;

}  // namespace

template <bool watched>
[[gnu::always_inline]] inline void Simulation::run_pu(std::uint32_t index, Ticks horizon) {
    Pu& p = pus_[index];
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
        horizon = std::min(horizon, p.slice_end - 1);
    }
    Stream& s = streams_[p.stream];
    memory_.caches(p.slot).counts = &s.counts;
    yield_ = false;
    Turn turn{forever, forever};
    if (!p.siblings.empty()) {
        turn = share_core(p, s, horizon);
        horizon = std::min(horizon, turn.until);
    }
    if (s.resume != Resume::nothing) {
        const Resume resume = s.resume;
        s.resume = Resume::nothing;
        if (resume == Resume::choose) {
            if (!choose(index, s)) return;
        } else if (resume != Resume::retry) {
            touch_sync_line(p, s, s.resume_line, resume == Resume::take_lock);
            if (resume == Resume::take_lock) ++s.counts[lock_acquisitions];
        }
        if (yield_) {
            p.key = p.time;
            return;
        }
    }
    run_steps<watched>(index, p, s, horizon);
    p.key = std::min(p.key, std::max(p.time, turn.change));
}

bool Simulation::advance(Ticks duration) {
    if (ended_) return true;
    duration = std::min(duration, forever);
    wanted_ = duration;
    if (in_region_) target_ = std::min(forever, now_ + duration);
    set_stop();
    return detection_ ? run_to_target<true>() : run_to_target<false>();
}

template <bool watched>
bool Simulation::run_to_target() {
    while (!ended_) {
        if (due_.empty() && next_start_ == forever) deadlock();
        const Ticks first = due_.empty() ? stop_ : due_.first_time();
        if (first >= stop_) {
            now_ = stop_;
            account_all(now_);
            if (stop_ == next_start_) start_due_processes(now_);
            if (now_ >= next_detection_) let_detectors_act(now_);
            if (stop_ == next_balance_ || stop_ == next_daemon_) os_events(now_);
            if (stop_ == next_sample_) {
                take_sample(now_);
                next_sample_ += options_.sample_period;
            }
            if (stop_ >= target_) return false;
            set_stop();
            continue;
        }
        const std::uint32_t index = due_.first();
        waker_ = index;
        const Ticks horizon = std::min(due_.first_until(forever) + machine_->skew, stop_ - 1);
        run_pu<watched>(index, horizon);
        if (pus_[index].stream == nobody)
            due_.remove(index);
        else
            due_.delay(index, pus_[index].key);
        if constexpr (watched)
            if (detection_->next() <= first) let_detectors_act(first);
        while (!retiring_.empty() && !ended_) {
            const std::uint32_t process = retiring_.back();
            retiring_.pop_back();
            retire(process, pus_[index].time);
        }
    }
    return true;
}

void Simulation::set_stop() {
    stop_ = std::min(
        {target_, next_sample_, next_start_, next_balance_, next_daemon_, next_detection_});
}

}  // namespace autofinity::sim
