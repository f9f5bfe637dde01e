// Number of times that each pair of threads was seen sharing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace autofinity::detect {

using Thread = std::uint16_t;
inline constexpr Thread no_thread = 0xFFFF;  // a thread that is not watched

class SharingCounts {
  public:
    explicit SharingCounts(std::size_t threads) : threads_(threads), cells_(threads * threads) {}

    std::size_t threads() const { return threads_; }
    // Both must be threads of the matrix, or no_thread. A thread shares nothing with itself.
    void count(Thread a, Thread b, std::uint64_t times = 1) {
        if (a == b || a >= threads_ || b >= threads_) return;
        cells_[a * threads_ + b] += times;
        cells_[b * threads_ + a] += times;
    }
    const std::vector<std::uint64_t>& cells() const { return cells_; }
    // Returns the counts, which restart at 0.
    std::vector<std::uint64_t> take() {
        return std::exchange(cells_, std::vector<std::uint64_t>(threads_ * threads_));
    }

  private:
    std::size_t threads_;
    std::vector<std::uint64_t> cells_;  // symmetric, row by row
};

}  // namespace autofinity::detect
