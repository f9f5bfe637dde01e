// Mapping level by level: threads are grouped for the innermost parts, groups of threads for the
// parts around them, and so on; then the groups are assigned from the root down.
//
// The mapper decides how a level is grouped (a `Grouper`). Weights between groups are sums of the
// sharing of their members: equation 9 of Cruz et al., CCPE 2014, for groups of any size.
#pragma once

#include <utility>
#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"

namespace autofinity::mapping {

// Groups to be made for parts of one shape: their number, and the elements of each.
struct Wanted {
    int groups = 0;
    std::vector<std::pair<int, int>> needs;  // (shape, elements of it), shapes ascending
};

class Grouper {
  public:
    virtual ~Grouper() = default;
    // Disjoint groups of elements that are `free`, as wanted. `shape` is each element's.
    virtual std::vector<std::vector<int>> group(const Matrix& weights,
                                                const std::vector<int>& shape,
                                                const std::vector<char>& free,
                                                const Wanted& wanted) = 0;
};

// Logical PU of each thread. Throws `std::logic_error` when the grouper gives other groups than
// wanted.
std::vector<int> map_by_groups(const Matrix& sharing, const SeatTree& tree, Grouper& grouper);

}  // namespace autofinity::mapping
