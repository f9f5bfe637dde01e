// Exchanging two elements (threads, or groups of them) as long as that makes a mapping cheaper.
#pragma once

#include <vector>

#include "mapping/machine.hpp"
#include "mapping/matrix.hpp"

namespace autofinity::mapping {

// A local optimum of pairwise exchanges is reached in O(n²) a sweep: what an element would cost on
// a PU is looked up in sums over the places and LLC domains, which an exchange brings up to date.
// All partners of an element are weighed together, in loops over contiguous numbers.
class Swaps {
  public:
    // `pu` is a PU of the part that each element has to itself; elements change parts only with
    // those of their own `kind`.
    Swaps(const Machine& machine, const Matrix& weights, const std::vector<int>& kind,
          std::vector<int> pu);

    // Exchanges until no exchange of two is worth while. Whether there was any.
    bool run();

    const std::vector<int>& pu() const { return pu_; }

  private:
    // Elements by the part they are in, and how much nearer than the LLC domain's others that makes
    // them. Numbers of parts are dense.
    struct Closer {
        std::vector<int> part_of;
        std::vector<double> shared;  // with each part, while partners of an element are weighed
        double by;
    };

    void number_cells();
    void find_closer();
    void sum_costs();
    double between_cells(int a, int b) const {
        return between_cells_[static_cast<size_t>(a) * cells_ + b];
    }
    double cost_at(int element, int pu) const;
    void cost_elsewhere(int element);
    int best_partner(int element);
    void exchange(int a, int b);
    void bring_up_to_date(int pu);

    const Machine& machine_;
    const Matrix& weights_;
    const std::vector<int>& kind_;
    bool of_one_kind_;
    std::vector<int> pu_;
    // A cell is an LLC domain's part in a place.
    int cells_ = 0;
    std::vector<int> cell_of_pu_;
    std::vector<int> cell_;  // of each element
    std::vector<double> between_cells_;
    std::vector<std::vector<int>> in_l2_;
    std::vector<Closer> closer_;
    std::vector<double> in_cell_;  // cell × element: cost if it were there, alone in its L2
    std::vector<double> now_;      // cost of each element where it is
    double worth_;                 // exchanges that save less than this are rounding
    std::vector<double> saved_;    // by exchanging an element with each other
    std::vector<double> moved_;    // how much more each element shares with one of two than the other
};

}  // namespace autofinity::mapping
