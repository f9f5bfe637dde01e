// Misses of a PU that are under way, oldest first: each holds a miss buffer until it is done, and
// instructions issue past it as far as the window goes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/machine.hpp"

namespace autofinity::sim {

struct Miss {
    std::uint64_t limit;  // instruction that cannot issue before `ready`
    Ticks ready;
};

class MissWindow {
  public:
    bool empty() const { return count_ == 0; }
    std::uint32_t size() const { return count_; }
    const Miss& oldest() const { return ring_[head_]; }
    // Instruction that cannot issue before the oldest miss is done; no_instruction without a miss,
    // computed without a branch, which a host could not predict.
    std::uint64_t limit() const { return oldest().limit | (std::uint64_t{0} - empty()); }
    // Time when all misses under way at `at` are done.
    Ticks all_done(Ticks at) const {
        for (std::uint32_t i = 0; i < count_; ++i)
            at = std::max(at, ring_[(head_ + i) % most].ready);
        return at;
    }

    std::uint32_t under_way(Ticks at) const {
        std::uint32_t count = 0;
        for (std::uint32_t i = 0; i < count_; ++i) count += ring_[(head_ + i) % most].ready > at;
        return count;
    }
    // Time when the first miss under way at `at` is done; `none` without a miss.
    Ticks next_done(Ticks at, Ticks none) const {
        for (std::uint32_t i = 0; i < count_; ++i) {
            const Ticks ready = ring_[(head_ + i) % most].ready;
            if (ready > at) none = std::min(none, ready);
        }
        return none;
    }

    void add(const Miss& miss) {
        ring_[(head_ + count_) % most] = miss;
        ++count_;
    }
    void forget_oldest() {
        head_ = (head_ + 1) % most;
        --count_;
    }
    void forget_done(Ticks at) {
        while (!empty() && oldest().ready <= at) forget_oldest();
    }
    void clear() { count_ = 0; }

    static constexpr std::size_t most = 32;

  private:
    std::array<Miss, most> ring_{};
    std::uint32_t head_ = 0, count_ = 0;
};

}  // namespace autofinity::sim
