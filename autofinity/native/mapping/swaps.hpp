// Exchanging two elements (threads, or groups of them) as long as that makes a mapping cheaper.
#pragma once

#include <vector>

#include "mapping/machine.hpp"
#include "mapping/matrix.hpp"

namespace autofinity::mapping {

// A local optimum of pairwise exchanges is reached in O(n²) a sweep: what an element would cost on
// a PU is looked up in sums over the places and LLC domains, which an exchange brings up to date.
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
    double reach(int element, int pu) const;
    void exchange(int a, int b);
    void leave(int element, int from, int to);
    int best_partner(int element) const;

    const Machine& machine_;
    const Matrix& weights_;
    const std::vector<int>& kind_;
    std::vector<int> pu_;
    // A cell is an LLC domain's part in a place.
    std::vector<int> cell_of_pu_;
    std::vector<std::vector<int>> in_l2_;
    int cells_ = 0;
    std::vector<double> between_cells_;
    std::vector<double> in_cell_;  // element × cell: cost if it were there, alone in its L2
    std::vector<double> now_;      // cost of each element where it is
    double worth_;                 // exchanges change the cost by less than this, or are rounding
};

}  // namespace autofinity::mapping
