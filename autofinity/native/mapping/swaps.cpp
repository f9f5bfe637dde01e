#include "mapping/swaps.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "mapping/largest.hpp"
#include "mapping/rounding.hpp"

namespace autofinity::mapping {

namespace {

// A few sweeps suffice; rounding must not prolong them for ever.
constexpr int most_sweeps = 1000;
constexpr int exchanges_of_a_disturbance = 2;
constexpr double never = -std::numeric_limits<double>::infinity();

}  // namespace

Swaps::Swaps(const Sites& sites, Matrix& weights)
    : sites_(sites),
      weights_(weights),
      came_from_(sites.size()),
      now_(sites.size()),
      saved_(sites.size()),
      moved_(sites.size()),
      farther_(sites.cells()) {
    std::iota(came_from_.begin(), came_from_.end(), 0);
    sum_costs();
    for (int site = 0; site < sites_.size(); ++site) {
        now_[site] = cost_of(site);
    }
}

// Sharing of every element with each cell, times the distances between the cells. Consecutive cells
// differ in few distances.
void Swaps::sum_costs() {
    const int size = sites_.size();
    const int cells = sites_.cells();
    std::vector<double> shared(static_cast<size_t>(cells) * size, 0.0);
    for (int j = 0; j < size; ++j) {
        const double* row = weights_.row(j);
        double* sums = &shared[static_cast<size_t>(sites_.cell(j)) * size];
        for (int i = 0; i < size; ++i) {
            sums[i] += row[i];
        }
    }
    rounding_ = rounding * std::accumulate(shared.begin(), shared.end(), 0.0);
    in_cell_.assign(static_cast<size_t>(cells) * size, 0.0);
    for (int cell = 0; cell < cells; ++cell) {
        double* costs = in_cell(cell);
        if (cell > 0) {
            std::copy_n(costs - size, size, costs);
        }
        for (int other = 0; other < cells; ++other) {
            const double farther = sites_.between_cells(cell, other) -
                                   (cell > 0 ? sites_.between_cells(cell - 1, other) : 0);
            const double* sums = &shared[static_cast<size_t>(other) * size];
            for (int i = 0; farther != 0 && i < size; ++i) {
                costs[i] += farther * sums[i];
            }
        }
    }
}

double Swaps::cost_of(int site) const {
    double sum = in_cell_[static_cast<size_t>(sites_.cell(site)) * sites_.size() + site];
    const double* shares = weights_.row(site);
    for (const int other : sites_.near(site)) {
        sum += shares[other] * sites_.nearness(site, other);
    }
    return sum;
}

// Sets `saved_`: the saving of exchanging the element of `site` with each other one.
void Swaps::weigh(int site) {
    const int size = sites_.size();
    const double* shares = weights_.row(site);
    const double* here = in_cell(sites_.cell(site));
    // Savings of both elements as if each were alone in the other's L2. The distance between the
    // two remains.
    for (const Sites::Run& run : sites_.runs()) {
        const double fixed = now_[site] - in_cell(run.cell)[site];
        const double between =
            2 * (topology::same_llc - sites_.between_cells(sites_.cell(site), run.cell));
        for (int i = run.first; i < run.end; ++i) {
            saved_[i] = fixed + now_[i] - here[i] + between * shares[i];
        }
    }
    // The element of `site` with those that share an L2 with the other site, and the other element
    // with those that share one with `site`.
    for (const Sites::Closer& closer : sites_.closer()) {
        double shared = 0;
        for (const int other : closer.sites) {
            shared += shares[other];
        }
        for (const int other : closer.sites) {
            saved_[other] += closer.by * (shared - shares[other]);
        }
    }
    for (const int near : sites_.near(site)) {
        const double nearness = near == site ? 0 : sites_.nearness(site, near);
        const double* row = weights_.row(near);
        for (int i = 0; nearness != 0 && i < size; ++i) {
            saved_[i] -= nearness * row[i];
        }
        saved_[near] -= 2 * nearness * shares[near];
    }
    for (const int near : sites_.near(site)) {
        if (sites_.of_one_pu(near, site)) {
            saved_[near] = never;
        }
    }
    for (int i = 0; !sites_.of_one_kind() && i < size; ++i) {
        if (sites_.kind(i) != sites_.kind(site)) {
            saved_[i] = never;
        }
    }
}

// The site whose element is the best exchange for that of `site`; -1 where no exchange saves
// anything.
int Swaps::best_partner(int site) {
    weigh(site);
    const int best = first_largest(saved_.data(), sites_.size());
    return saved_[best] > rounding_ ? best : -1;
}

void Swaps::exchange(int a, int b) {
    const int size = sites_.size();
    const double* one = weights_.row(a);
    const double* other = weights_.row(b);
    for (int i = 0; i < size; ++i) {
        moved_[i] = one[i] - other[i];
    }
    for (int cell = 0; cell < sites_.cells(); ++cell) {
        const double farther =
            sites_.between_cells(cell, sites_.cell(b)) - sites_.between_cells(cell, sites_.cell(a));
        double* costs = in_cell(cell);
        for (int i = 0; farther != 0 && i < size; ++i) {
            costs[i] += farther * moved_[i];
        }
        std::swap(costs[a], costs[b]);
        farther_[cell] = farther;
    }
    for (const Sites::Run& run : sites_.runs()) {
        for (int i = run.first; i < run.end; ++i) {
            now_[i] += farther_[run.cell] * moved_[i];
        }
    }
    move_rows_and_columns(a, b);
    for (const int site : {a, b}) {
        for (const int near : sites_.near(site)) {
            now_[near] = cost_of(near);
        }
    }
}

void Swaps::move_rows_and_columns(int a, int b) {
    std::swap(came_from_[a], came_from_[b]);
    std::swap_ranges(weights_.row(a), weights_.row(a) + sites_.size(), weights_.row(b));
    for (int i = 0; i < sites_.size(); ++i) {
        double* row = weights_.row(i);
        std::swap(row[a], row[b]);
    }
}

// Exchanges each element once with the best partner, if there is one. Returns the saving.
double Swaps::sweep() {
    double saved = 0;
    for (int site = 0; site < sites_.size(); ++site) {
        const int other = best_partner(site);
        if (other >= 0) {
            saved += saved_[other];
            exchange(site, other);
        }
    }
    return saved;
}

bool Swaps::run(double worth) {
    if (rounding_ == 0) {
        return false;
    }
    const double least = worth * std::accumulate(now_.begin(), now_.end(), 0.0) / 2;
    double saved = 0;
    for (int i = 0; i < most_sweeps; ++i) {
        const double of_sweep = sweep();
        saved += of_sweep;
        if (of_sweep <= least) {
            break;
        }
    }
    return saved > least;
}

// A site whose element shares with that of `site`, searched from a random one on; `site` where
// there is none.
int Swaps::partner_of(int site, std::mt19937_64& draw) const {
    const int size = sites_.size();
    const int from = static_cast<int>(draw() % size);
    for (int i = 0; i < size; ++i) {
        const int other = (from + i) % size;
        if (weights_.at(site, other) > 0) {
            return other;
        }
    }
    return site;
}

// Saving of moving random elements beside some that they share with.
double Swaps::disturbed(std::mt19937_64& draw) {
    double saved = 0;
    for (int i = 0; i < exchanges_of_a_disturbance; ++i) {
        const int site = static_cast<int>(draw() % sites_.size());
        const int partner = partner_of(site, draw);
        const int beside = partner + 1 == sites_.size() ? partner - 1 : partner + 1;
        weigh(site);
        if (saved_[beside] != never) {
            saved += saved_[beside];
            exchange(site, beside);
            done_.emplace_back(site, beside);
        }
    }
    return saved;
}

// Saving of further exchanges of elements that have been exchanged, until there is none.
double Swaps::mended() {
    double saved = 0;
    for (size_t i = 0; i < done_.size(); ++i) {
        const auto [one, two] = done_[i];
        for (const int site : {one, two}) {
            const int other = best_partner(site);
            if (other >= 0) {
                saved += saved_[other];
                exchange(site, other);
                done_.emplace_back(site, other);
            }
        }
    }
    return saved;
}

bool Swaps::disturb(int times, std::mt19937_64& draw) {
    bool any = false;
    for (int i = 0; i < times; ++i) {
        done_.clear();
        const double lost = -disturbed(draw);
        if (mended() - lost > rounding_) {
            any = true;
            continue;
        }
        for (; !done_.empty(); done_.pop_back()) {
            exchange(done_.back().first, done_.back().second);
        }
    }
    return any;
}

}  // namespace autofinity::mapping
