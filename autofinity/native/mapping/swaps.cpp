#include "mapping/swaps.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "mapping/largest.hpp"

namespace autofinity::mapping {

namespace {

// Exchanges that gain less than this share of all sharing are rounding.
constexpr double negligible = 1e-12;

}  // namespace

Swaps::Swaps(const Machine& machine, const Matrix& weights, const std::vector<int>& kind,
             std::vector<int> pu)
    : machine_(machine),
      weights_(weights),
      kind_(kind),
      of_one_kind_(std::equal(kind.begin() + 1, kind.end(), kind.begin())),
      pu_(std::move(pu)),
      now_(weights.size()),
      saved_(weights.size()),
      moved_(weights.size()) {
    number_cells();
    find_closer();
    sum_costs();
    for (int i = 0; i < weights_.size(); ++i) {
        now_[i] = cost_at(i, pu_[i]);
    }
}

void Swaps::number_cells() {
    std::map<std::pair<int, int>, int> known;
    std::vector<int> first_of_cell;
    cell_of_pu_.assign(machine_.pus().size(), -1);
    for (const int at : pu_) {
        const Pu& p = machine_.pus()[at];
        const auto [found, made] =
            known.try_emplace({p.llc, machine_.place(at)}, static_cast<int>(known.size()));
        cell_of_pu_[at] = found->second;
        cell_.push_back(found->second);
        if (made) {
            first_of_cell.push_back(at);
        }
    }
    cells_ = static_cast<int>(known.size());
    for (const int one : first_of_cell) {
        for (const int other : first_of_cell) {
            const bool of_one_llc = machine_.pus()[one].llc == machine_.pus()[other].llc;
            between_cells_.push_back(
                of_one_llc ? same_llc
                           : machine_.between_places(machine_.place(one), machine_.place(other)));
        }
    }
}

// Parts within LLC domains that hold more than one element; a part that holds no more than the one
// within it is left out.
void Swaps::find_closer() {
    const auto parts = [&](auto number) {
        Closer made;
        std::map<int, int> known;
        for (const int at : pu_) {
            made.part_of.push_back(
                known.try_emplace(number(at), static_cast<int>(known.size())).first->second);
        }
        made.shared.assign(known.size(), 0.0);
        return made;
    };
    const auto& pus = machine_.pus();
    Closer by_part[] = {parts([&](int at) { return pus[at].l2; }),
                        parts([&](int at) { return pus[at].core; }),
                        parts([&](int at) { return at; })};
    by_part[0].by = same_l2 - same_llc;
    by_part[1].by = same_core - same_l2;
    by_part[2].by = 0 - same_core;
    double by = 0;
    for (size_t level = 0; level < std::size(by_part); ++level) {
        by += by_part[level].by;
        const size_t within =
            level + 1 < std::size(by_part) ? by_part[level + 1].shared.size() : pu_.size() + 1;
        if (by_part[level].shared.size() < within) {
            by_part[level].by = std::exchange(by, 0.0);
            closer_.push_back(std::move(by_part[level]));
        }
    }
    in_l2_.resize(pus.size());
    for (int i = 0; i < weights_.size(); ++i) {
        in_l2_[pus[pu_[i]].l2].push_back(i);
    }
}

// What every element shares with each cell, times the distances between the cells. Cells after each
// other differ in few distances.
void Swaps::sum_costs() {
    const int size = weights_.size();
    std::vector<double> shared(static_cast<size_t>(cells_) * size, 0.0);
    double total = 0;
    for (int j = 0; j < size; ++j) {
        const double* row = weights_.row(j);
        double* sums = &shared[static_cast<size_t>(cell_[j]) * size];
        for (int i = 0; i < size; ++i) {
            sums[i] += row[i];
        }
    }
    for (const double amount : shared) {
        total += amount;
    }
    worth_ = negligible * total;
    in_cell_.assign(static_cast<size_t>(cells_) * size, 0.0);
    for (int cell = 0; cell < cells_; ++cell) {
        double* costs = &in_cell_[static_cast<size_t>(cell) * size];
        if (cell > 0) {
            std::copy_n(costs - size, size, costs);
        }
        for (int other = 0; other < cells_; ++other) {
            const double farther =
                between_cells(cell, other) - (cell > 0 ? between_cells(cell - 1, other) : 0);
            const double* sums = &shared[static_cast<size_t>(other) * size];
            for (int i = 0; farther != 0 && i < size; ++i) {
                costs[i] += farther * sums[i];
            }
        }
    }
}

// What an element would cost on a PU, all others where they are.
double Swaps::cost_at(int element, int pu) const {
    double sum = in_cell_[static_cast<size_t>(cell_of_pu_[pu]) * weights_.size() + element];
    const double* shares = weights_.row(element);
    for (const int other : in_l2_[machine_.pus()[pu].l2]) {
        sum += shares[other] * (machine_.distance(pu, pu_[other]) - same_llc);
    }
    return sum;
}

// In `saved_`: less what an element would cost where each other one is.
void Swaps::cost_elsewhere(int element) {
    const int size = weights_.size();
    const double* shares = weights_.row(element);
    std::vector<double> in_cell(cells_);
    for (int cell = 0; cell < cells_; ++cell) {
        in_cell[cell] = in_cell_[static_cast<size_t>(cell) * size + element];
    }
    for (int i = 0; i < size; ++i) {
        saved_[i] = -in_cell[cell_[i]];
    }
    for (Closer& closer : closer_) {
        if (closer.shared.size() == pu_.size()) {
            for (int i = 0; i < size; ++i) {
                saved_[i] -= closer.by * shares[i];
            }
            continue;
        }
        std::fill(closer.shared.begin(), closer.shared.end(), 0.0);
        for (int i = 0; i < size; ++i) {
            closer.shared[closer.part_of[i]] += shares[i];
        }
        for (int i = 0; i < size; ++i) {
            saved_[i] -= closer.by * closer.shared[closer.part_of[i]];
        }
    }
}

// With whom an exchange saves most; -1 where none is worth while.
int Swaps::best_partner(int element) {
    const int size = weights_.size();
    const int here = pu_[element];
    const double* shares = weights_.row(element);
    cost_elsewhere(element);
    const double* in_this_cell = &in_cell_[static_cast<size_t>(cell_[element]) * size];
    const double now = now_[element];
    for (int i = 0; i < size; ++i) {
        saved_[i] += now + now_[i] - in_this_cell[i];
    }
    std::vector<double> far(cells_);
    for (int cell = 0; cell < cells_; ++cell) {
        far[cell] = 2 * between_cells(cell_[element], cell);
    }
    for (int i = 0; i < size; ++i) {
        saved_[i] -= far[cell_[i]] * shares[i];
    }
    const auto& near = in_l2_[machine_.pus()[here].l2];
    for (const int other : near) {
        const double closer = machine_.distance(here, pu_[other]) - same_llc;
        const double* row = weights_.row(other);
        for (int i = 0; i < size; ++i) {
            saved_[i] -= closer * row[i];
        }
        saved_[other] -= 2 * closer * shares[other];
    }
    constexpr double never = -std::numeric_limits<double>::infinity();
    for (const int other : near) {
        if (pu_[other] == here) {
            saved_[other] = never;
        }
    }
    for (int i = 0; !of_one_kind_ && i < size; ++i) {
        if (kind_[i] != kind_[element]) {
            saved_[i] = never;
        }
    }
    const int best = first_largest(saved_.data(), size);
    return saved_[best] > worth_ ? best : -1;
}

void Swaps::exchange(int a, int b) {
    const int size = weights_.size();
    const int from = cell_[a];
    const int to = cell_[b];
    const double* one = weights_.row(a);
    const double* other = weights_.row(b);
    for (int i = 0; i < size; ++i) {
        moved_[i] = one[i] - other[i];
    }
    std::vector<double> farther(cells_);
    for (int cell = 0; cell < cells_; ++cell) {
        farther[cell] = between_cells(cell, to) - between_cells(cell, from);
        double* costs = &in_cell_[static_cast<size_t>(cell) * size];
        for (int i = 0; farther[cell] != 0 && i < size; ++i) {
            costs[i] += farther[cell] * moved_[i];
        }
    }
    for (int i = 0; i < size; ++i) {
        now_[i] += farther[cell_[i]] * moved_[i];
    }
    auto& left = in_l2_[machine_.pus()[pu_[a]].l2];
    auto& entered = in_l2_[machine_.pus()[pu_[b]].l2];
    std::swap(*std::find(left.begin(), left.end(), a), *std::find(entered.begin(), entered.end(), b));
    std::swap(pu_[a], pu_[b]);
    std::swap(cell_[a], cell_[b]);
    for (Closer& closer : closer_) {
        std::swap(closer.part_of[a], closer.part_of[b]);
    }
    bring_up_to_date(pu_[a]);
    bring_up_to_date(pu_[b]);
}

// After an exchange, those in the L2 of one of its PUs.
void Swaps::bring_up_to_date(int pu) {
    for (const int i : in_l2_[machine_.pus()[pu].l2]) {
        now_[i] = cost_at(i, pu_[i]);
    }
}

bool Swaps::run() {
    bool any = false;
    for (bool again = worth_ > 0; again;) {
        again = false;
        for (int element = 0; element < weights_.size(); ++element) {
            const int other = best_partner(element);
            if (other >= 0) {
                exchange(element, other);
                again = any = true;
            }
        }
    }
    return any;
}

}  // namespace autofinity::mapping
