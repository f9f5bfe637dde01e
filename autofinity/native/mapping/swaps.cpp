#include "mapping/swaps.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace autofinity::mapping {

namespace {

// Exchanges that gain less than this share of all sharing are rounding.
constexpr double negligible = 1e-12;

}  // namespace

Swaps::Swaps(const Machine& machine, const Matrix& weights, const std::vector<int>& kind,
             std::vector<int> pu)
    : machine_(machine), weights_(weights), kind_(kind), pu_(std::move(pu)) {
    std::map<std::pair<int, int>, int> known;
    std::vector<int> first_of_cell;
    cell_of_pu_.assign(machine.pus().size(), -1);
    for (const int at : pu_) {
        const Pu& p = machine.pus()[at];
        const auto [found, made] =
            known.try_emplace({p.llc, machine.place(at)}, static_cast<int>(known.size()));
        cell_of_pu_[at] = found->second;
        in_l2_.resize(std::max<size_t>(in_l2_.size(), p.l2 + 1));
        if (made) {
            first_of_cell.push_back(at);
        }
    }
    cells_ = static_cast<int>(known.size());
    for (int a = 0; a < cells_; ++a) {
        for (int b = 0; b < cells_; ++b) {
            const int one = first_of_cell[a];
            const int other = first_of_cell[b];
            const bool of_one_llc = machine.pus()[one].llc == machine.pus()[other].llc;
            between_cells_.push_back(
                of_one_llc ? same_llc
                           : machine.between_places(machine.place(one), machine.place(other)));
        }
    }
    const int size = weights.size();
    in_cell_.assign(static_cast<size_t>(size) * cells_, 0.0);
    std::vector<double> shared(cells_);
    double total = 0;
    for (int i = 0; i < size; ++i) {
        std::fill(shared.begin(), shared.end(), 0.0);
        for (int j = 0; j < size; ++j) {
            shared[cell_of_pu_[pu_[j]]] += weights.at(i, j);
            total += weights.at(i, j);
        }
        for (int a = 0; a < cells_; ++a) {
            for (int b = 0; b < cells_; ++b) {
                in_cell_[static_cast<size_t>(i) * cells_ + a] +=
                    shared[b] * between_cells_[static_cast<size_t>(a) * cells_ + b];
            }
        }
        in_l2_[machine.pus()[pu_[i]].l2].push_back(i);
    }
    worth_ = -negligible * total;
    now_.resize(size);
}

// What an element would cost on a PU, all others where they are.
double Swaps::reach(int element, int pu) const {
    double sum = in_cell_[static_cast<size_t>(element) * cells_ + cell_of_pu_[pu]];
    const double* shares = weights_.row(element);
    for (const int other : in_l2_[machine_.pus()[pu].l2]) {
        sum += shares[other] * (machine_.distance(pu, pu_[other]) - same_llc);
    }
    return sum;
}

void Swaps::leave(int element, int from, int to) {
    auto& before = in_l2_[machine_.pus()[from].l2];
    before.erase(std::find(before.begin(), before.end(), element));
    in_l2_[machine_.pus()[to].l2].push_back(element);
    const double* out_of = &between_cells_[static_cast<size_t>(cell_of_pu_[from]) * cells_];
    const double* into = &between_cells_[static_cast<size_t>(cell_of_pu_[to]) * cells_];
    if (out_of == into) {
        return;
    }
    const double* shares = weights_.row(element);
    for (int i = 0; i < weights_.size(); ++i) {
        double* costs = &in_cell_[static_cast<size_t>(i) * cells_];
        for (int cell = 0; shares[i] != 0 && cell < cells_; ++cell) {
            costs[cell] += shares[i] * (into[cell] - out_of[cell]);
        }
    }
}

void Swaps::exchange(int a, int b) {
    leave(a, pu_[a], pu_[b]);
    leave(b, pu_[b], pu_[a]);
    std::swap(pu_[a], pu_[b]);
    for (int i = 0; i < weights_.size(); ++i) {
        if (i == a || i == b || weights_.at(a, i) != 0 || weights_.at(b, i) != 0) {
            now_[i] = reach(i, pu_[i]);
        }
    }
}

// With whom an exchange saves most; -1 where none is worth while.
int Swaps::best_partner(int element) const {
    const int here = pu_[element];
    const double* shares = weights_.row(element);
    int best = -1;
    double least = worth_;
    for (int other = 0; other < weights_.size(); ++other) {
        if (kind_[element] != kind_[other] || here == pu_[other]) {
            continue;
        }
        double by = reach(element, pu_[other]) - now_[element];
        by += reach(other, here) - now_[other];
        if (shares[other] != 0) {
            by += 2 * shares[other] * machine_.distance(here, pu_[other]);
        }
        if (by < least) {
            least = by;
            best = other;
        }
    }
    return best;
}

bool Swaps::run() {
    const int size = weights_.size();
    for (int i = 0; i < size; ++i) {
        now_[i] = reach(i, pu_[i]);
    }
    bool any = false;
    for (bool again = worth_ < 0; again;) {
        again = false;
        for (int element = 0; element < size; ++element) {
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
