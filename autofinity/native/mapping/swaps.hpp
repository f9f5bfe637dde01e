// Exchanges two elements (threads, or groups of them) as long as that makes a mapping cheaper.
#pragma once

#include <random>
#include <utility>
#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/sites.hpp"

namespace autofinity::mapping {

// A sweep evaluates all exchanges in O(n²): the cost of an element on a site is looked up in sums
// over the cells, which each exchange updates. All partners of an element are evaluated together,
// in loops over neighbours in memory; so elements are numbered by their sites, and an exchange
// moves their rows and columns.
class Swaps {
  public:
    // `weights` is by site, and is kept so.
    Swaps(const Sites& sites, Matrix& weights);

    // Sweeps until a sweep saves no more than `worth`, as a share of the mapping's cost. Returns
    // whether all sweeps together saved more.
    bool run(double worth);

    // Moves some elements beside others `times` times, makes the exchanges that then pay, and
    // undoes all of it unless the result was cheaper. Returns whether it ever was. Expects two
    // sites or more.
    bool disturb(int times, std::mt19937_64& draw);

    // Site before the exchanges of the element that is now on each site.
    const std::vector<int>& came_from() const { return came_from_; }

  private:
    void sum_costs();
    double cost_of(int site) const;
    void weigh(int site);
    int best_partner(int site);
    double sweep();
    int partner_of(int site, std::mt19937_64& draw) const;
    double disturbed(std::mt19937_64& draw);
    double mended();
    void exchange(int a, int b);
    void move_rows_and_columns(int a, int b);
    double* in_cell(int cell) { return &in_cell_[static_cast<size_t>(cell) * sites_.size()]; }

    const Sites& sites_;
    Matrix& weights_;
    std::vector<int> came_from_;
    std::vector<double> in_cell_;  // cell × site: cost of its element in the cell, alone in its L2
    std::vector<double> now_;      // cost of the element on each site
    double rounding_;              // exchanges that save less are rounding
    std::vector<double> saved_;    // by exchanging an element with that of each other site
    std::vector<double> moved_;    // what each shares more with one of two elements than the other
    std::vector<double> farther_;  // by cell
    std::vector<std::pair<int, int>> done_;  // exchanges since the disturbance
};

}  // namespace autofinity::mapping
