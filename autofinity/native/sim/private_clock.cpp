#include "private_clock.hpp"

#include <algorithm>

namespace autofinity::sim {

void PrivateClock::wait_for_oldest(Ticks now) {
    const Miss miss = ring_[head_];
    head_ = (head_ + 1) % most;
    --count_;
    if (miss.ready > now) lost_ += miss.ready - now;
}

void PrivateClock::access(std::uint64_t at, Ticks delay, bool needed, std::uint32_t gap) {
    while (count_ != 0 && ring_[head_].limit <= at) wait_for_oldest(time_of(ring_[head_].limit));
    while (count_ != 0 && ring_[head_].ready <= time_of(at)) wait_for_oldest(time_of(at));
    const Ticks whole = std::max(delay, l1_hit_);
    if (needed) {
        const Ticks hidden = gap * instruction_;
        if (whole > hidden) lost_ += whole - hidden;
    } else if (delay != 0) {
        if (count_ == buffers_) wait_for_oldest(time_of(at));
        ring_[(head_ + count_++) % most] = {at + window_, time_of(at) + whole};
    }
}

void PrivateClock::drain(std::uint64_t at) {
    while (count_ != 0) wait_for_oldest(time_of(at));
}

}  // namespace autofinity::sim
