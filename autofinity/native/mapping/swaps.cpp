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
    cell_of_pu_.assign(machine.pus().size(), -1);
    for (const int at : pu_) {
        const Pu& p = machine.pus()[at];
        const auto [found, made] =
            known.try_emplace({p.llc, machine.place(at)}, static_cast<int>(known.size()));
        cell_of_pu_[at] = found->second;
        cells_of_llc_.resize(std::max<size_t>(cells_of_llc_.size(), p.llc + 1));
        in_l2_.resize(std::max<size_t>(in_l2_.size(), p.l2 + 1));
        if (made) {
            place_of_cell_.push_back(machine.place(at));
            cells_of_llc_[p.llc].push_back(found->second);
        }
    }
    cells_ = static_cast<int>(known.size());
    const int size = weights.size();
    to_cell_.assign(static_cast<size_t>(size) * cells_, 0.0);
    to_place_.assign(static_cast<size_t>(size) * machine.places(), 0.0);
    for (int i = 0; i < size; ++i) {
        double* cells = to_cell_.data() + static_cast<size_t>(i) * cells_;
        double* places = to_place_.data() + static_cast<size_t>(i) * machine.places();
        for (int j = 0; j < size; ++j) {
            cells[cell_of_pu_[pu_[j]]] += weights.at(i, j);
        }
        for (int place = 0; place < machine.places(); ++place) {
            for (int cell = 0; cell < cells_; ++cell) {
                places[place] += cells[cell] * machine.between_places(place, place_of_cell_[cell]);
            }
        }
        in_l2_[machine.pus()[pu_[i]].l2].push_back(i);
    }
}

// What an element would cost on a PU, all others where they are.
double Swaps::reach(int element, int pu) const {
    const Pu& p = machine_.pus()[pu];
    const int place = machine_.place(pu);
    const double* cells = to_cell_.data() + static_cast<size_t>(element) * cells_;
    double sum = to_place_[static_cast<size_t>(element) * machine_.places() + place];
    for (const int cell : cells_of_llc_[p.llc]) {
        sum += cells[cell] * (same_llc - machine_.between_places(place, place_of_cell_[cell]));
    }
    const double* shares = weights_.row(element);
    for (const int other : in_l2_[p.l2]) {
        sum += shares[other] * (machine_.distance(pu, pu_[other]) - same_llc);
    }
    return sum;
}

double Swaps::change(int a, int b) const {
    const double between = 2 * weights_.at(a, b) * machine_.distance(pu_[a], pu_[b]);
    return reach(a, pu_[b]) + reach(b, pu_[a]) - reach(a, pu_[a]) - reach(b, pu_[b]) + between;
}

void Swaps::leave(int element, int from, int to) {
    const int size = weights_.size();
    const int places = machine_.places();
    const int out_of = cell_of_pu_[from];
    const int into = cell_of_pu_[to];
    const int left = machine_.place(from);
    const int entered = machine_.place(to);
    const double* shares = weights_.row(element);
    for (int i = 0; i < size && out_of != into; ++i) {
        if (shares[i] == 0) {
            continue;
        }
        to_cell_[static_cast<size_t>(i) * cells_ + out_of] -= shares[i];
        to_cell_[static_cast<size_t>(i) * cells_ + into] += shares[i];
        for (int place = 0; place < places && left != entered; ++place) {
            to_place_[static_cast<size_t>(i) * places + place] +=
                shares[i] *
                (machine_.between_places(place, entered) - machine_.between_places(place, left));
        }
    }
    auto& before = in_l2_[machine_.pus()[from].l2];
    before.erase(std::find(before.begin(), before.end(), element));
    in_l2_[machine_.pus()[to].l2].push_back(element);
}

void Swaps::exchange(int a, int b) {
    leave(a, pu_[a], pu_[b]);
    leave(b, pu_[b], pu_[a]);
    std::swap(pu_[a], pu_[b]);
}

bool Swaps::run() {
    const int size = weights_.size();
    double total = 0;
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < i; ++j) {
            total += weights_.at(i, j);
        }
    }
    const double worth = -negligible * total;
    bool any = false;
    for (bool again = total > 0; again;) {
        again = false;
        for (int a = 0; a < size; ++a) {
            int best = -1;
            double least = worth;
            for (int b = 0; b < size; ++b) {
                if (kind_[a] == kind_[b] && pu_[a] != pu_[b]) {
                    const double by = change(a, b);
                    if (by < least) {
                        least = by;
                        best = b;
                    }
                }
            }
            if (best >= 0) {
                exchange(a, best);
                again = any = true;
            }
        }
    }
    return any;
}

}  // namespace autofinity::mapping
