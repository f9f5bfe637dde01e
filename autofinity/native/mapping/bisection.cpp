#include "mapping/bisection.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "mapping/largest.hpp"
#include "mapping/rounding.hpp"

namespace autofinity::mapping {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// With up to this many threads each of them is a start; with more, five are.
constexpr int all_beginnings = 8;
// Exchanges without gain before a pass ends: these, and a share of the threads.
constexpr int patience = 8;
constexpr int patient_share = 16;

// Two halves of some threads, the first one of a given size.
class Bisection {
  public:
    // `weights` between the threads, which it outlives.
    Bisection(const Matrix& weights, int first_half)
        : size_(weights.size()),
          first_half_(first_half),
          weights_(weights),
          half_shared_(size_, 0.0),
          with_first_(size_),
          leaves_(size_),
          enters_(size_),
          key_(size_) {
        for (int i = 0; i < size_; ++i) {
            const double* row = weights_.row(i);
            for (int j = 0; j < size_; ++j) {
                half_shared_[j] += row[j] / 2;
            }
        }
        total_ = 2 * std::accumulate(half_shared_.begin(), half_shared_.end(), 0.0);
    }

    // Whether each thread is in the first half, by its position.
    std::vector<char> run() {
        consider(in_order());
        if (total_ == 0 || size_ == 2) {
            return best_;
        }
        if (size_ <= all_beginnings) {
            for (int thread = 0; thread < size_; ++thread) {
                consider(grown_from(thread));
            }
            return best_;
        }
        // The most and the least sharing thread, and those farthest from them.
        const auto [fewest, most] = std::minmax_element(half_shared_.begin(), half_shared_.end());
        for (const auto thread : {most, fewest}) {
            consider(grown_from(static_cast<int>(thread - half_shared_.begin())));
            consider(grown_from(last_grown_));
        }
        return best_;
    }

  private:
    std::vector<char> in_order() {
        std::vector<char> half(size_, 0);
        std::fill(with_first_.begin(), with_first_.end(), 0.0);
        for (int i = 0; i < first_half_; ++i) {
            half[i] = 1;
            share_with_first(i);
        }
        return half;
    }

    std::vector<char> grown_from(int thread) {
        std::vector<char> half(size_, 0);
        std::fill(with_first_.begin(), with_first_.end(), 0.0);
        std::fill(enters_.begin(), enters_.end(), 0.0);
        for (int grown = 0; grown < first_half_; ++grown) {
            half[thread] = 1;
            enters_[thread] = -infinite;
            last_grown_ = thread;
            share_with_first(thread);
            for (int i = 0; i < size_; ++i) {
                key_[i] = with_first_[i] + enters_[i];
            }
            thread = first_largest(key_.data(), size_);
        }
        return half;
    }

    void share_with_first(int thread) {
        const double* row = weights_.row(thread);
        for (int i = 0; i < size_; ++i) {
            with_first_[i] += row[i];
        }
    }

    // Improves a half, the one for which `with_first_` was computed.
    void consider(std::vector<char> half) {
        while (pass(half)) {
        }
        double cut = 0;
        for (int i = 0; i < size_; ++i) {
            cut += half[i] ? 2 * half_shared_[i] - with_first_[i] : 0;
        }
        if (best_.empty() || cut < least_cut_ - rounding * total_) {
            least_cut_ = cut;
            best_ = std::move(half);
        }
    }

    // One pass of exchanges, each thread at most once; exchanges after the best moment are undone.
    bool pass(std::vector<char>& half) {
        for (int i = 0; i < size_; ++i) {
            leaves_[i] = half[i] ? half_shared_[i] : -infinite;
            enters_[i] = half[i] ? -infinite : -half_shared_[i];
        }
        done_.clear();
        double sum = 0;
        double most = rounding * total_;
        size_t until = 0;
        const size_t exchanges = std::min(first_half_, size_ - first_half_);
        const size_t in_vain = patience + size_ / patient_share;
        while (done_.size() < std::min(exchanges, until + in_vain)) {
            sum += exchange_best();
            if (sum > most) {
                most = sum;
                until = done_.size();
            }
        }
        for (; done_.size() > until; done_.pop_back()) {
            change_sides(done_.back().second, done_.back().first);
        }
        for (const auto& [a, b] : done_) {
            half[a] = 0;
            half[b] = 1;
        }
        return until > 0;
    }

    // Exchanges the thread of the first half that gains most with its best partner. Returns half of
    // the gain.
    double exchange_best() {
        for (int i = 0; i < size_; ++i) {
            key_[i] = leaves_[i] - with_first_[i];
        }
        const int a = first_largest(key_.data(), size_);
        double gained = key_[a];
        const double* row = weights_.row(a);
        for (int i = 0; i < size_; ++i) {
            key_[i] = enters_[i] + (with_first_[i] - row[i]);
        }
        const int b = first_largest(key_.data(), size_);
        gained += key_[b];
        change_sides(a, b);
        leaves_[a] = enters_[b] = -infinite;
        done_.emplace_back(a, b);
        return gained;
    }

    // `a` leaves the first half and `b` enters it.
    void change_sides(int a, int b) {
        const double* left = weights_.row(a);
        const double* entered = weights_.row(b);
        for (int i = 0; i < size_; ++i) {
            with_first_[i] += entered[i] - left[i];
        }
    }

    int size_;
    int first_half_;
    const Matrix& weights_;
    std::vector<double> half_shared_;  // half of the sharing of each thread with all others
    double total_;
    std::vector<char> best_;
    double least_cut_ = 0;
    int last_grown_ = 0;
    std::vector<double> with_first_;  // sharing of each thread with the first half
    // Half of the cut's gain when a thread leaves or enters the first half, without `with_first_`;
    // -infinite where it may not.
    std::vector<double> leaves_;
    std::vector<double> enters_;
    std::vector<double> key_;
    std::vector<std::pair<int, int>> done_;
};

class Mapping {
  public:
    Mapping(const Matrix& sharing, const SeatTree& tree)
        : sharing_(sharing), tree_(tree), pu_of_thread_(sharing.size()) {}

    std::vector<int> run() {
        std::vector<int> threads(sharing_.size());
        std::iota(threads.begin(), threads.end(), 0);
        into_parts(0, {0}, threads, sharing_);
        return pu_of_thread_;
    }

  private:
    // `parts` are neighbours of one level that hold as many seats as there are `threads`, whose
    // sharing is in `weights`.
    void into_parts(size_t level, const std::vector<int>& parts, const std::vector<int>& threads,
                    const Matrix& weights) {
        if (parts.size() == 1) {
            const Part& part = tree_.parts()[level][parts[0]];
            if (threads.size() == 1) {
                pu_of_thread_[threads[0]] = tree_.pus()[part.first_seat];
            } else {
                into_parts(level + 1, part.children, threads, weights);
            }
            return;
        }
        const auto middle = parts.begin() + static_cast<std::ptrdiff_t>(parts.size() + 1) / 2;
        const std::vector<int> first(parts.begin(), middle);
        const std::vector<int> second(middle, parts.end());
        int room = 0;
        for (const int part : first) {
            room += tree_.parts()[level][part].seats;
        }
        const std::vector<char> half = Bisection(weights, room).run();
        for (const auto& [in_first, side] : {std::pair{1, &first}, std::pair{0, &second}}) {
            std::vector<int> chosen;
            std::vector<int> of_side;
            for (size_t i = 0; i < threads.size(); ++i) {
                if (half[i] == in_first) {
                    chosen.push_back(static_cast<int>(i));
                    of_side.push_back(threads[i]);
                }
            }
            into_parts(level, *side, of_side, weights.among(chosen));
        }
    }

    const Matrix& sharing_;
    const SeatTree& tree_;
    std::vector<int> pu_of_thread_;
};

}  // namespace

std::vector<int> map_by_bisection(const Matrix& sharing, const SeatTree& tree) {
    return Mapping(sharing, tree).run();
}

}  // namespace autofinity::mapping
