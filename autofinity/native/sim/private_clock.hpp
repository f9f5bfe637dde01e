// The time of one stream on a core whose neighbours and memory cost nothing.
#pragma once

#include <array>
#include <cstdint>

#include "machine.hpp"

namespace autofinity::sim {

// The time a stream would lose if only misses that stay in its core took time, by the interval
// model of issue.cpp: they overlap up to the miss buffers and the window.
class PrivateClock {
  public:
    explicit PrivateClock(const CoreClass& core)
        : instruction_(core.instruction),
          l1_hit_(core.side.l1_hit),
          buffers_(core.misses_in_flight),
          window_(core.window) {}

    // An access at instruction `at` whose line is there after `delay`; if `needed`, whatever issues
    // after the next `gap` instructions waits for it.
    void access(std::uint64_t at, Ticks delay, bool needed, std::uint32_t gap);
    // All misses are waited for at instruction `at`.
    void drain(std::uint64_t at);
    Ticks lost() const { return lost_; }

  private:
    struct Miss {
        std::uint64_t limit;  // instruction that cannot issue before `ready`
        Ticks ready;
    };
    Ticks time_of(std::uint64_t at) const { return at * instruction_ + lost_; }
    void wait_for_oldest(Ticks now);

    Ticks instruction_, l1_hit_;
    std::uint32_t buffers_, window_;
    static constexpr std::uint32_t most = 32;

    std::array<Miss, most> ring_{};
    std::uint32_t head_ = 0, count_ = 0;
    Ticks lost_ = 0;
};

}  // namespace autofinity::sim
