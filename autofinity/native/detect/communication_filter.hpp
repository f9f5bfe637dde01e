// Whether a sharing matrix has changed enough for threads to be mapped again: Cruz, Diener & Navaux
// 2014, section 5.1.
#pragma once

#include <span>
#include <vector>

#include "detect/sharing_counts.hpp"

namespace autofinity::detect {

// A thread's partner is the thread that it shares most with, the first of several; none without
// sharing.
inline Thread partner_of(std::span<const double> row, std::size_t thread) {
    Thread partner = no_thread;
    double most = 0;
    for (std::size_t other = 0; other < row.size(); ++other)
        if (other != thread && row[other] > most) {
            most = row[other];
            partner = static_cast<Thread>(other);
        }
    return partner;
}

class CommunicationFilter {
  public:
    // Passes a matrix in which at least `threshold` threads have another partner than in the last
    // matrix that it got.
    CommunicationFilter(std::size_t threads, std::size_t threshold)
        : threshold_(threshold), partners_(threads, no_thread) {}

    // `cells`: threads × threads, row by row.
    bool passes(std::span<const double> cells) {
        const std::size_t n = partners_.size();
        std::size_t changed = 0;
        for (std::size_t thread = 0; thread < n; ++thread) {
            const Thread now = partner_of(cells.subspan(thread * n, n), thread);
            changed += now != partners_[thread];
            partners_[thread] = now;
        }
        return changed >= threshold_;
    }
    std::size_t threads() const { return partners_.size(); }

  private:
    std::size_t threshold_;
    std::vector<Thread> partners_;
};

}  // namespace autofinity::detect
