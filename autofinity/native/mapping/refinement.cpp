#include "mapping/refinement.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <unordered_map>
#include <utility>

#include "mapping/bisection.hpp"
#include "mapping/cost.hpp"
#include "mapping/eager.hpp"
#include "mapping/swaps.hpp"

namespace autofinity::mapping {

namespace {

// Rounding could let two mappings of equal cost follow each other for ever.
constexpr size_t most_rounds = 32;
constexpr double rounding = 1e-12;
// Above this many threads only the cheaper beginning is mended.
constexpr int few_threads = 64;
// Disturbances: at most so many, and fewer the more pairs of threads there are.
constexpr int64_t most_kicks = 200;
constexpr int64_t kick_work = 60'000;
constexpr int exchanges_of_a_kick = 3;

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

Matrix between_parts(const Matrix& sharing, const std::vector<Part>& parts,
                     const std::vector<int>& thread_on) {
    const int threads = sharing.size();
    std::vector<int> part_of(threads);
    for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
        for (int i = 0; i < parts[part].seats; ++i) {
            part_of[thread_on[parts[part].first_seat + i]] = part;
        }
    }
    Matrix made(static_cast<int>(parts.size()));
    std::vector<double> sums(threads);
    for (int part = 0; part < made.size(); ++part) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (int i = 0; i < parts[part].seats; ++i) {
            const double* shares = sharing.row(thread_on[parts[part].first_seat + i]);
            for (int j = 0; j < threads; ++j) {
                sums[j] += shares[j];
            }
        }
        double* row = made.row(part);
        for (int j = 0; j < threads; ++j) {
            row[part_of[j]] += sums[j];
        }
        row[part] = 0;
    }
    return made;
}

// Whether distances between the parts are those between their first PUs.
bool of_one_place(const Machine& machine, const SeatTree& tree, const std::vector<Part>& parts) {
    return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
        const int first = tree.pus()[part.first_seat];
        const int last = tree.pus()[part.first_seat + part.seats - 1];
        return machine.place(first) == machine.place(last);
    });
}

// Exchanges the threads of single seats. `thread_on` is by seat, here and below.
bool exchange_threads(const Machine& machine, const Matrix& sharing, const SeatTree& tree,
                      std::vector<int>& thread_on) {
    std::vector<int> pu(sharing.size());
    for (int seat = 0; seat < tree.seats(); ++seat) {
        pu[thread_on[seat]] = tree.pus()[seat];
    }
    const std::vector<int> kind(sharing.size());
    Swaps swaps(machine, sharing, kind, std::move(pu));
    if (!swaps.run()) {
        return false;
    }
    thread_on = seats_taken(tree, swaps.pu());
    return true;
}

bool exchange_parts(const Machine& machine, const Matrix& sharing, const SeatTree& tree,
                    const std::vector<Part>& parts, std::vector<int>& thread_on) {
    const Matrix weights = between_parts(sharing, parts, thread_on);
    std::vector<int> kind;
    std::vector<int> pu;
    std::unordered_map<int, int> part_at;
    for (const Part& part : parts) {
        part_at[tree.pus()[part.first_seat]] = static_cast<int>(pu.size());
        kind.push_back(part.layout);
        pu.push_back(tree.pus()[part.first_seat]);
    }
    Swaps swaps(machine, weights, kind, std::move(pu));
    if (!swaps.run()) {
        return false;
    }
    const std::vector<int> before = thread_on;
    for (size_t part = 0; part < parts.size(); ++part) {
        const Part& to = parts[part_at[swaps.pu()[part]]];
        std::copy_n(before.begin() + parts[part].first_seat, to.seats,
                    thread_on.begin() + to.first_seat);
    }
    return true;
}

// Levels whose parts can be exchanged, outermost first. One whose parts have one child each is the
// next one over again.
std::vector<size_t> exchangeable(const Machine& machine, const SeatTree& tree) {
    const auto& parts = tree.parts();
    std::vector<size_t> found;
    for (size_t level = 1; level < parts.size(); ++level) {
        const bool last = level + 1 == parts.size();
        if (parts[level].size() > 1 && (last || parts[level].size() != parts[level + 1].size()) &&
            of_one_place(machine, tree, parts[level])) {
            found.push_back(level);
        }
    }
    return found;
}

// Exchanges parts on all levels in turn until none of them changes anything any more.
void exchange_all(const Machine& machine, const Matrix& sharing, const SeatTree& tree,
                  std::vector<int>& thread_on) {
    const std::vector<size_t> level_of = exchangeable(machine, tree);
    size_t unchanged = 0;
    for (size_t turn = 0; unchanged < level_of.size() && turn < most_rounds * level_of.size(); ++turn) {
        const size_t level = level_of[turn % level_of.size()];
        const auto& parts = tree.parts();
        const bool changed =
            level + 1 == parts.size()
                ? exchange_threads(machine, sharing, tree, thread_on)
                : exchange_parts(machine, sharing, tree, parts[level], thread_on);
        // What has just been exchanged is as good as that can make it.
        unchanged = changed ? 1 : unchanged + 1;
    }
}

struct Found {
    std::vector<int> thread_on;
    double cost;
};

class Refinement {
  public:
    Refinement(const Machine& machine, const Matrix& sharing, const SeatTree& tree)
        : machine_(machine), sharing_(sharing), tree_(tree) {}

    std::vector<int> run() {
        Eager eager;
        Found best = found(seats_taken(tree_, map_by_groups(sharing_, tree_, eager)));
        Found other = found(seats_taken(tree_, map_by_bisection(sharing_, tree_)));
        if (other.cost < best.cost) {
            std::swap(best, other);
        }
        take_if_cheaper(best, mended(best.thread_on));
        if (tree_.seats() <= few_threads) {
            take_if_cheaper(best, mended(other.thread_on));
        }
        const int64_t pairs = int64_t(tree_.seats()) * tree_.seats();
        const int64_t kicks = std::min(most_kicks, kick_work / pairs);
        for (int64_t kick = 0; kick < kicks; ++kick) {
            take_if_cheaper(best, mended(disturbed(best.thread_on)));
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

    Found mended(std::vector<int> thread_on) const {
        exchange_all(machine_, sharing_, tree_, thread_on);
        return found(std::move(thread_on));
    }

    void take_if_cheaper(Found& best, Found other) const {
        if (other.cost < best.cost * (1 - rounding)) {
            best = std::move(other);
        }
    }

    std::vector<int> disturbed(std::vector<int> thread_on) {
        for (int i = 0; i < exchanges_of_a_kick; ++i) {
            const size_t one = draw_() % thread_on.size();
            const size_t other = draw_() % thread_on.size();
            std::swap(thread_on[one], thread_on[other]);
        }
        return thread_on;
    }

    const Machine& machine_;
    const Matrix& sharing_;
    const SeatTree& tree_;
    std::mt19937_64 draw_{1};
};

}  // namespace

std::vector<int> refined(const Machine& machine, const Matrix& sharing, const SeatTree& tree) {
    return Refinement(machine, sharing, tree).run();
}

}  // namespace autofinity::mapping
