#include "mapping/refinement.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>

#include "mapping/bisection.hpp"
#include "mapping/cost.hpp"
#include "mapping/eager.hpp"
#include "mapping/swaps.hpp"

namespace autofinity::mapping {

namespace {

// Rounding could let two mappings of equal cost follow each other for ever.
constexpr int most_rounds = 32;
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
    std::vector<int> part_of(sharing.size());
    for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
        for (int i = 0; i < parts[part].seats; ++i) {
            part_of[thread_on[parts[part].first_seat + i]] = part;
        }
    }
    Matrix made(static_cast<int>(parts.size()));
    for (int i = 0; i < sharing.size(); ++i) {
        double* row = made.row(part_of[i]);
        const double* shares = sharing.row(i);
        for (int j = 0; j < sharing.size(); ++j) {
            row[part_of[j]] += shares[j];
        }
    }
    for (int part = 0; part < made.size(); ++part) {
        made.row(part)[part] = 0;
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

bool exchange_parts(const Machine& machine, const Matrix& sharing, const SeatTree& tree,
                    const std::vector<Part>& parts, std::vector<int>& thread_on) {
    const Matrix weights = between_parts(sharing, parts, thread_on);
    std::vector<int> kind;
    std::vector<int> pu;
    for (const Part& part : parts) {
        kind.push_back(part.layout);
        pu.push_back(tree.pus()[part.first_seat]);
    }
    Swaps swaps(machine, weights, kind, pu);
    if (!swaps.run()) {
        return false;
    }
    // Seats of one PU are parts alike in everything: the first that is left will do.
    std::multimap<int, int> parts_at;
    for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
        parts_at.emplace(pu[part], part);
    }
    const std::vector<int> before = thread_on;
    for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
        const auto at = parts_at.find(swaps.pu()[part]);
        std::copy_n(before.begin() + parts[part].first_seat, parts[part].seats,
                    thread_on.begin() + parts[at->second].first_seat);
        parts_at.erase(at);
    }
    return true;
}

// Exchanges parts on all levels until nothing changes. `thread_on` is by seat.
void exchange_all(const Machine& machine, const Matrix& sharing, const SeatTree& tree,
                  std::vector<int>& thread_on) {
    const auto& parts = tree.parts();
    bool again = true;
    for (int round = 0; again && round < most_rounds; ++round) {
        again = false;
        for (size_t level = 1; level < parts.size(); ++level) {
            // A level whose parts have one child each is the next one over again.
            const bool last = level + 1 == parts.size();
            if (parts[level].size() < 2 ||
                (!last && parts[level].size() == parts[level + 1].size()) ||
                !of_one_place(machine, tree, parts[level])) {
                continue;
            }
            again |= exchange_parts(machine, sharing, tree, parts[level], thread_on);
        }
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
