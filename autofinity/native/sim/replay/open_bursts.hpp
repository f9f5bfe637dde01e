// Bursts of a stream that have been carried out, and may still be under way.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "deferred.hpp"
#include "sim/program/step.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

struct OpenBurst {
    std::uint64_t start = 0;  // instruction of the stream
    Step step{};              // to line 0: none
    std::uint64_t end() const { return start + step.span(); }
    // The accesses that are due after instruction `from`, as a burst that ends when this one does.
    Step rest_after(std::uint64_t from) const;
};

class OpenBursts {
  public:
    void remember(const Step& step, std::uint64_t at) {
        OpenBurst& burst = open_[next_];
        next_ = (next_ + 1) % most;
        burst.start = at;
        burst.step = step;
        end_ = std::max(end_, at + step.span());
    }
    bool over(std::uint64_t instruction) const { return end_ <= instruction; }
    void clear() { open_ = {}; }
    // Passes to `visit` the accesses that were not due before instruction `here` on the lost line,
    // one burst at a time.
    template <typename Visit>
    void take_back(const Lost& lost, std::uint64_t here, Visit&& visit) {
        if (over(here)) return;
        for (OpenBurst& burst : open_) {
            if (burst.step.line() != lost.line || burst.end() <= here) continue;
            const Step rest = burst.rest_after(std::max(here, burst.start));
            if (rest.accesses() == 0 || (lost.only_write && rest.writes() == 0)) continue;
            const std::uint64_t at = burst.end() - rest.span();
            burst.step = {};
            visit(Deferred{at, rest});
        }
    }

  private:
    static constexpr std::uint32_t most = 16;  // a power of two

    std::array<OpenBurst, most> open_{};  // the latest ones
    std::uint32_t next_ = 0;
    std::uint64_t end_ = 0;  // instruction at which all of them are over
};

}  // namespace autofinity::sim
