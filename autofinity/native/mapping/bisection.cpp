#include "mapping/bisection.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace autofinity::mapping {

namespace {

constexpr double least = std::numeric_limits<double>::lowest();
// Up to this many threads each of them is a beginning.
constexpr int all_beginnings = 32;
// A pass that gains less than this share of all sharing has found rounding.
constexpr double negligible = 1e-12;

// Two halves of some threads, the first one of a given size.
class Bisection {
  public:
    Bisection(const Matrix& sharing, const std::vector<int>& threads, int first_half)
        : size_(static_cast<int>(threads.size())), first_half_(first_half), weights_(size_) {
        total_ = 0;
        for (int i = 0; i < size_; ++i) {
            for (int j = 0; j < size_; ++j) {
                weights_.row(i)[j] = sharing.at(threads[i], threads[j]);
                total_ += weights_.at(i, j);
            }
        }
    }

    // Whether each thread is in the first half, by its position.
    std::vector<char> run() {
        std::vector<char> in_order(size_, 0);
        std::fill_n(in_order.begin(), first_half_, 1);
        consider(in_order);
        if (total_ == 0) {
            return best_;
        }
        for (const int thread : beginnings()) {
            consider(grown_from(thread));
        }
        return best_;
    }

  private:
    void consider(std::vector<char> half) {
        while (pass(half)) {
        }
        double cut = 0;
        for (int i = 0; i < size_; ++i) {
            for (int j = 0; j < i; ++j) {
                cut += half[i] != half[j] ? weights_.at(i, j) : 0;
            }
        }
        if (best_.empty() || cut < least_cut_ - negligible * total_) {
            least_cut_ = cut;
            best_ = std::move(half);
        }
    }

    // All threads, or the most and the least sharing ones and those farthest from them.
    std::vector<int> beginnings() {
        std::vector<int> found;
        if (size_ <= all_beginnings) {
            for (int i = 0; i < size_; ++i) {
                found.push_back(i);
            }
            return found;
        }
        int most = 0;
        int fewest = 0;
        std::vector<double> shares(size_, 0.0);
        for (int i = 0; i < size_; ++i) {
            for (int j = 0; j < size_; ++j) {
                shares[i] += weights_.at(i, j);
            }
            most = shares[i] > shares[most] ? i : most;
            fewest = shares[i] < shares[fewest] ? i : fewest;
        }
        for (const int thread : {most, fewest}) {
            found.push_back(thread);
            grown_from(thread);
            found.push_back(last_grown_);
        }
        return found;
    }

    std::vector<char> grown_from(int thread) {
        std::vector<char> half(size_, 0);
        std::vector<double> shared(size_, 0.0);
        for (int grown = 0; grown < first_half_; ++grown) {
            half[thread] = 1;
            last_grown_ = thread;
            int next = -1;
            for (int i = 0; i < size_; ++i) {
                shared[i] += weights_.at(thread, i);
                if (!half[i] && (next < 0 || shared[i] > shared[next])) {
                    next = i;
                }
            }
            thread = next;
        }
        return half;
    }

    // One pass of exchanges, each thread at most once, undone behind the best moment.
    bool pass(std::vector<char>& half) const {
        // What the cut loses when a thread alone changes sides.
        std::vector<double> gain(size_, 0.0);
        for (int i = 0; i < size_; ++i) {
            for (int j = 0; j < size_; ++j) {
                gain[i] += half[i] == half[j] ? -weights_.at(i, j) : weights_.at(i, j);
            }
        }
        std::vector<char> locked(size_, 0);
        std::vector<std::pair<int, int>> done;
        double sum = 0;
        double most = negligible * total_;
        size_t until = 0;
        const int exchanges = std::min(first_half_, size_ - first_half_);
        for (int step = 0; step < exchanges; ++step) {
            int a = -1;
            for (int i = 0; i < size_; ++i) {
                if (half[i] && !locked[i] && (a < 0 || gain[i] > gain[a])) {
                    a = i;
                }
            }
            int b = -1;
            double by = least;
            for (int i = 0; i < size_; ++i) {
                if (!half[i] && !locked[i] && gain[i] - 2 * weights_.at(a, i) > by) {
                    by = gain[i] - 2 * weights_.at(a, i);
                    b = i;
                }
            }
            sum += gain[a] + by;
            locked[a] = locked[b] = 1;
            done.emplace_back(a, b);
            half[a] = 0;
            half[b] = 1;
            for (int i = 0; i < size_; ++i) {
                const double change = 2 * (weights_.at(a, i) - weights_.at(b, i));
                gain[i] += half[i] ? change : -change;
            }
            if (sum > most) {
                most = sum;
                until = done.size();
            }
        }
        for (size_t i = done.size(); i > until; --i) {
            half[done[i - 1].first] = 1;
            half[done[i - 1].second] = 0;
        }
        return until > 0;
    }

    int size_;
    int first_half_;
    Matrix weights_;
    double total_;
    std::vector<char> best_;
    double least_cut_ = 0;
    int last_grown_ = 0;
};

class Mapping {
  public:
    Mapping(const Matrix& sharing, const SeatTree& tree)
        : sharing_(sharing), tree_(tree), pu_of_thread_(sharing.size()) {}

    std::vector<int> run() {
        std::vector<int> threads(sharing_.size());
        for (int i = 0; i < sharing_.size(); ++i) {
            threads[i] = i;
        }
        into_parts(0, {0}, threads);
        return pu_of_thread_;
    }

  private:
    // `parts` are neighbours of one level that hold as many seats as there are `threads`.
    void into_parts(size_t level, const std::vector<int>& parts, const std::vector<int>& threads) {
        if (parts.size() == 1) {
            const Part& part = tree_.parts()[level][parts[0]];
            if (threads.size() == 1) {
                pu_of_thread_[threads[0]] = tree_.pus()[part.first_seat];
            } else {
                into_parts(level + 1, part.children, threads);
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
        const std::vector<char> half = Bisection(sharing_, threads, room).run();
        std::vector<int> one;
        std::vector<int> other;
        for (size_t i = 0; i < threads.size(); ++i) {
            (half[i] ? one : other).push_back(threads[i]);
        }
        into_parts(level, first, one);
        into_parts(level, second, other);
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
