// Number of times that each pair of threads was seen sharing. A thread counts in its own row only,
// so that a row is written by one core (SAMMU, section 3.2); what a pair shares is in both rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace autofinity::detect {

using Thread = std::uint16_t;
inline constexpr Thread no_thread = 0xFFFF;  // a thread that is not watched

class SharingCounts {
  public:
    explicit SharingCounts(std::size_t threads) : threads_(threads), rows_(threads * threads) {}

    std::size_t threads() const { return threads_; }
    // In the row of `a`. Both must be threads of the matrix, or no_thread. A thread shares nothing
    // with itself.
    void count(Thread a, Thread b, std::uint64_t times = 1) {
        if (a == b || a >= threads_ || b >= threads_) return;
        rows_[a * threads_ + b] += times;
    }
    const std::vector<std::uint64_t>& rows() const { return rows_; }
    // Sharing of each pair, whoever saw it: symmetric, row by row.
    std::vector<std::uint64_t> cells() const {
        std::vector<std::uint64_t> found(rows_.size());
        for (std::size_t a = 0; a < threads_; ++a)
            for (std::size_t b = 0; b < threads_; ++b)
                found[a * threads_ + b] = rows_[a * threads_ + b] + rows_[b * threads_ + a];
        return found;
    }
    // Returns the same counts, which restart at 0.
    std::vector<std::uint64_t> take() {
        std::vector<std::uint64_t> found = cells();
        std::fill(rows_.begin(), rows_.end(), 0);
        return found;
    }

  private:
    std::size_t threads_;
    std::vector<std::uint64_t> rows_;
};

}  // namespace autofinity::detect
