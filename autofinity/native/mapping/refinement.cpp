#include "mapping/refinement.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "mapping/bisection.hpp"
#include "mapping/cost.hpp"
#include "mapping/eager.hpp"
#include "mapping/rounding.hpp"
#include "mapping/sites.hpp"
#include "mapping/swaps.hpp"

namespace autofinity::mapping {

namespace {

// Because of rounding, two mappings of equal cost could otherwise alternate for ever.
constexpr size_t most_rounds = 32;
// Above this many threads only the cheaper start is improved, sweeps of exchanges end when one
// saves less than this share of the cost, and there are no disturbances.
constexpr int few_threads = 32;
constexpr double worth_a_sweep = 1e-4;
// Disturbances: at most so many, and fewer the more pairs of threads there are.
constexpr int most_disturbances = 200;
constexpr int disturbed_pairs = 32'768;

std::vector<int> seats_taken(const SeatTree& tree, const std::vector<int>& pu_of_thread) {
    std::multimap<int, int> seats_of;
    for (int seat = 0; seat < tree.seats(); ++seat) {
        seats_of.emplace(tree.pus()[seat], seat);
    }
    std::vector<int> thread_on(tree.seats());
    for (int thread = 0; thread < tree.seats(); ++thread) {
        const auto seat = seats_of.find(pu_of_thread[thread]);
        thread_on[seat->second] = thread;
        seats_of.erase(seat);
    }
    return thread_on;
}

Matrix between_parts(const Matrix& between_seats, const std::vector<Part>& parts) {
    Matrix made(static_cast<int>(parts.size()));
    std::vector<double> sums(between_seats.size());
    for (int part = 0; part < made.size(); ++part) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (int i = 0; i < parts[part].seats; ++i) {
            const double* shares = between_seats.row(parts[part].first_seat + i);
            for (size_t j = 0; j < sums.size(); ++j) {
                sums[j] += shares[j];
            }
        }
        double* row = made.row(part);
        for (int other = 0; other < made.size(); ++other) {
            const auto first = sums.begin() + parts[other].first_seat;
            row[other] = std::accumulate(first, first + parts[other].seats, 0.0);
        }
        row[part] = 0;
    }
    return made;
}

// Whether distances between the parts are those between their first PUs.
bool of_one_place(const topology::Machine& machine, const SeatTree& tree,
                  const std::vector<Part>& parts) {
    return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
        const int first = tree.pus()[part.first_seat];
        const int last = tree.pus()[part.first_seat + part.seats - 1];
        return machine.places().of(first) == machine.places().of(last);
    });
}

// Parts of one level, whose contents can be exchanged.
struct Level {
    const std::vector<Part>& parts;
    bool of_seats;
    Sites sites;
};

Sites sites_of(const topology::Machine& machine, const SeatTree& tree,
               const std::vector<Part>& parts) {
    std::vector<int> kind;
    std::vector<int> pu;
    for (const Part& part : parts) {
        kind.push_back(part.layout);
        pu.push_back(tree.pus()[part.first_seat]);
    }
    return {machine, std::move(pu), std::move(kind)};
}

// Outermost level first. A level whose parts have one child each equals the next level.
std::vector<Level> exchangeable(const topology::Machine& machine, const SeatTree& tree) {
    std::vector<Level> found;
    for (size_t level = 1; level < tree.parts().size(); ++level) {
        const auto& parts = tree.parts()[level];
        const bool last = level + 1 == tree.parts().size();
        if (parts.size() > 1 && (last || parts.size() != tree.parts()[level + 1].size()) &&
            of_one_place(machine, tree, parts)) {
            found.push_back({parts, last, sites_of(machine, tree, parts)});
        }
    }
    return found;
}

struct Found {
    std::vector<int> thread_on;  // by seat
    double cost;
};

class Refinement {
  public:
    Refinement(const topology::Machine& machine, const Matrix& sharing, const SeatTree& tree)
        : machine_(machine),
          sharing_(sharing),
          tree_(tree),
          levels_(exchangeable(machine, tree)),
          worth_(tree.seats() <= few_threads ? 0 : worth_a_sweep) {}

    std::vector<int> run() {
        Eager eager;
        Found best = found(seats_taken(tree_, map_by_groups(sharing_, tree_, eager)));
        Found other = found(seats_taken(tree_, map_by_bisection(sharing_, tree_)));
        if (other.cost < best.cost) {
            std::swap(best, other);
        }
        take_if_cheaper(best, mended(best.thread_on));
        if (tree_.seats() > 1 && tree_.seats() <= few_threads) {
            take_if_cheaper(best, mended(other.thread_on));
            disturb(best);
        }
        return pus(best.thread_on);
    }

  private:
    std::vector<int> pus(const std::vector<int>& thread_on) const {
        std::vector<int> pu_of_thread(thread_on.size());
        for (int seat = 0; seat < tree_.seats(); ++seat) {
            pu_of_thread[thread_on[seat]] = tree_.pus()[seat];
        }
        return pu_of_thread;
    }

    Found found(std::vector<int> thread_on) const {
        const double cost = cost_of(machine_, sharing_, pus(thread_on));
        return {std::move(thread_on), cost};
    }

    // Exchanges on all levels in turn until none of them changes anything.
    Found mended(std::vector<int> thread_on) const {
        Matrix between_seats = sharing_.among(thread_on);
        size_t unchanged = 0;
        for (size_t turn = 0; unchanged < levels_.size() && turn < most_rounds * levels_.size();
             ++turn) {
            const Level& level = levels_[turn % levels_.size()];
            const bool worth_it = level.of_seats ? exchange_seats(level, between_seats, thread_on)
                                                 : exchange_parts(level, between_seats, thread_on);
            // Another try could not improve what has just been exchanged.
            unchanged = worth_it ? 1 : unchanged + 1;
        }
        return found(std::move(thread_on));
    }

    bool exchange_seats(const Level& level, Matrix& between_seats,
                        std::vector<int>& thread_on) const {
        Swaps swaps(level.sites, between_seats);
        const bool worth_it = swaps.run(worth_);
        follow(swaps, thread_on);
        return worth_it;
    }

    bool exchange_parts(const Level& level, Matrix& between_seats,
                        std::vector<int>& thread_on) const {
        Matrix weights = between_parts(between_seats, level.parts);
        Swaps swaps(level.sites, weights);
        if (!swaps.run(worth_)) {
            return false;
        }
        const std::vector<int> before = thread_on;
        for (int to = 0; to < level.sites.size(); ++to) {
            const Part& from = level.parts[swaps.came_from()[to]];
            std::copy_n(before.begin() + from.first_seat, from.seats,
                        thread_on.begin() + level.parts[to].first_seat);
        }
        between_seats = sharing_.among(thread_on);
        return true;
    }

    void take_if_cheaper(Found& best, Found other) const {
        if (other.cost < best.cost * (1 - rounding)) {
            best = std::move(other);
        }
    }

    // Disturbs the mapping and improves it again, several times.
    void disturb(Found& best) {
        const int times =
            std::min(most_disturbances, disturbed_pairs / (tree_.seats() * tree_.seats()));
        Matrix between_seats = sharing_.among(best.thread_on);
        Swaps swaps(levels_.back().sites, between_seats);
        if (swaps.disturb(times, draw_)) {
            std::vector<int> thread_on = best.thread_on;
            follow(swaps, thread_on);
            take_if_cheaper(best, mended(std::move(thread_on)));
        }
    }

    // Applies the swaps to the threads.
    void follow(const Swaps& swaps, std::vector<int>& thread_on) const {
        const std::vector<int> before = thread_on;
        for (int seat = 0; seat < tree_.seats(); ++seat) {
            thread_on[seat] = before[swaps.came_from()[seat]];
        }
    }

    const topology::Machine& machine_;
    const Matrix& sharing_;
    const SeatTree& tree_;
    std::vector<Level> levels_;
    double worth_;
    std::mt19937_64 draw_{1};
};

}  // namespace

std::vector<int> refined(const topology::Machine& machine, const Matrix& sharing,
                         const SeatTree& tree) {
    return Refinement(machine, sharing, tree).run();
}

}  // namespace autofinity::mapping
