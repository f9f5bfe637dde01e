#include "mapping/exact.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "mapping/assignment.hpp"
#include "mapping/cost.hpp"
#include "mapping/rounding.hpp"

namespace autofinity::mapping {

namespace {

class Search {
  public:
    Search(const topology::Machine& machine, const Matrix& sharing, const SeatTree& tree,
           const std::vector<int>& known, int64_t most_steps)
        : sharing_(sharing),
          tree_(tree),
          size_(sharing.size()),
          distance_(size_),
          to_placed_(size_),
          seat_of_(size_, -1),
          taken_(size_, 0),
          best_(known),
          steps_left_(most_steps) {
        for (int a = 0; a < size_; ++a) {
            for (int b = 0; b < size_; ++b) {
                distance_.row(a)[b] = machine.distance(tree.pus()[a], tree.pus()[b]);
            }
        }
        best_cost_ = cost_of(machine, sharing, known);
        order_threads();
        find_twins();
    }

    std::optional<std::vector<int>> run() {
        place(0, 0);
        if (steps_left_ < 0) {
            return std::nullopt;
        }
        return best_;
    }

  private:
    // Orders threads: the next one shares most with those before it; the first one shares most with
    // all.
    void order_threads() {
        std::vector<double> shared(size_, 0.0);
        std::vector<char> chosen(size_, 0);
        for (int i = 0; i < size_; ++i) {
            shared[i] = std::accumulate(sharing_.row(i), sharing_.row(i) + size_, 0.0);
        }
        for (int step = 0; step < size_; ++step) {
            int next = -1;
            for (int i = 0; i < size_; ++i) {
                if (!chosen[i] && (next < 0 || shared[i] > shared[next])) {
                    next = i;
                }
            }
            if (step == 0) {
                std::fill(shared.begin(), shared.end(), 0.0);
            }
            chosen[next] = 1;
            order_.push_back(next);
            for (int i = 0; i < size_; ++i) {
                shared[i] += sharing_.at(next, i);
            }
        }
    }

    // Whether exchanging the content of two parts leaves all distances unchanged.
    bool alike(const Part& a, const Part& b) const {
        if (a.layout != b.layout) {
            return false;
        }
        const auto other = [&](int seat) {
            if (seat >= a.first_seat && seat < a.first_seat + a.seats) {
                return seat - a.first_seat + b.first_seat;
            }
            if (seat >= b.first_seat && seat < b.first_seat + b.seats) {
                return seat - b.first_seat + a.first_seat;
            }
            return seat;
        };
        for (int i = 0; i < size_; ++i) {
            for (int j = 0; j < i; ++j) {
                if (distance_.at(i, j) != distance_.at(other(i), other(j))) {
                    return false;
                }
            }
        }
        return true;
    }

    void find_twins() {
        const auto& parts = tree_.parts();
        twins_.resize(parts.size());
        for (size_t level = 1; level < parts.size(); ++level) {
            twins_[level].resize(parts[level].size());
            for (const Part& parent : parts[level - 1]) {
                for (const int child : parent.children) {
                    for (const int before : parent.children) {
                        if (before < child && alike(parts[level][before], parts[level][child])) {
                            twins_[level][child].push_back(before);
                        }
                    }
                }
            }
        }
    }

    bool empty(const Part& part) const {
        const auto first = taken_.begin() + part.first_seat;
        return std::find(first, first + part.seats, 1) == first + part.seats;
    }

    // Seats of an empty part are candidates only if no empty part before it is alike.
    void candidates(size_t level, int part, std::vector<int>& found) const {
        const auto& parts = tree_.parts();
        const Part& here = parts[level][part];
        if (level > 0 && empty(here)) {
            for (const int before : twins_[level][part]) {
                if (empty(parts[level][before])) {
                    return;
                }
            }
        }
        if (level + 1 == parts.size()) {
            if (!taken_[here.first_seat]) {
                found.push_back(here.first_seat);
            }
            return;
        }
        for (const int child : here.children) {
            candidates(level + 1, child, found);
        }
    }

    // Gilmore and Lawler's bound of the cost that the threads from `depth` on add: at best, each
    // has the cost of its sharing with placed threads, and half of its sharing with the others at
    // the least distances.
    double bound(int depth) {
        const int left = size_ - depth;
        std::vector<int> seats;
        for (int seat = 0; seat < size_; ++seat) {
            if (!taken_[seat]) {
                seats.push_back(seat);
            }
        }
        std::vector<std::vector<double>> near(left);
        for (int s = 0; s < left; ++s) {
            for (int other = 0; other < left; ++other) {
                if (other != s) {
                    near[s].push_back(distance_.at(seats[s], seats[other]));
                }
            }
            std::sort(near[s].begin(), near[s].end());
        }
        std::vector<double> costs;
        std::vector<double> shares;
        for (int t = depth; t < size_; ++t) {
            const int thread = order_[t];
            shares.clear();
            for (int other = depth; other < size_; ++other) {
                if (other != t) {
                    shares.push_back(sharing_.at(thread, order_[other]));
                }
            }
            std::sort(shares.begin(), shares.end(), std::greater<>());
            for (int s = 0; s < left; ++s) {
                const double rest =
                    std::inner_product(shares.begin(), shares.end(), near[s].begin(), 0.0);
                costs.push_back(to_placed_.at(thread, seats[s]) + rest / 2);
            }
        }
        return least_assignment(costs, left);
    }

    void settle(int thread, int seat) {
        for (int i = 0; i < size_; ++i) {
            double* row = to_placed_.row(i);
            const double share = sharing_.at(thread, i);
            for (int s = 0; s < size_; ++s) {
                row[s] += share * distance_.at(seat, s);
            }
        }
    }

    void place(int depth, double cost) {
        if (depth == size_) {
            if (cost < best_cost_) {
                best_cost_ = cost;
                for (int thread = 0; thread < size_; ++thread) {
                    best_[thread] = tree_.pus()[seat_of_[thread]];
                }
            }
            return;
        }
        const int thread = order_[depth];
        std::vector<int> seats;
        candidates(0, 0, seats);
        std::stable_sort(seats.begin(), seats.end(), [&](int a, int b) {
            return to_placed_.at(thread, a) < to_placed_.at(thread, b);
        });
        for (const int seat : seats) {
            if (--steps_left_ < 0) {
                return;
            }
            const double now = cost + to_placed_.at(thread, seat);
            const std::vector<double> before(
                to_placed_.row(0), to_placed_.row(0) + static_cast<size_t>(size_) * size_);
            seat_of_[thread] = seat;
            taken_[seat] = 1;
            settle(thread, seat);
            if (now + bound(depth + 1) < best_cost_ * (1 - rounding)) {
                place(depth + 1, now);
            }
            std::copy(before.begin(), before.end(), to_placed_.row(0));
            taken_[seat] = 0;
        }
    }

    const Matrix& sharing_;
    const SeatTree& tree_;
    int size_;
    Matrix distance_;
    Matrix to_placed_;  // thread × seat: cost of the sharing with those placed so far
    std::vector<int> seat_of_;
    std::vector<char> taken_;
    std::vector<int> order_;
    std::vector<std::vector<std::vector<int>>> twins_;  // earlier siblings that are alike
    std::vector<int> best_;
    double best_cost_;
    int64_t steps_left_;
};

}  // namespace

std::optional<std::vector<int>> cheapest(const topology::Machine& machine, const Matrix& sharing,
                                         const SeatTree& tree, const std::vector<int>& known,
                                         int64_t most_steps) {
    return Search(machine, sharing, tree, known, most_steps).run();
}

}  // namespace autofinity::mapping
