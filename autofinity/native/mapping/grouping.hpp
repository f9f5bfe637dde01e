// Mapping level by level: threads are grouped for the innermost parts, groups of threads for the
// parts around them, and so on; then the groups are handed down from the root.
//
// How a level is grouped is the mapper's own affair (a `Grouper`). Weights between groups are sums
// of the sharing of their members: equation 9 of Cruz et al., CCPE 2014, for groups of any size.
#pragma once

#include <utility>
#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"

namespace autofinity::mapping {

// Groups to be made for parts of one shape: how many, and what each consists of.
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

// Logical PU of each thread. Throws `std::logic_error` when the grouper does not give what is
// wanted.
std::vector<int> map_by_groups(const Matrix& sharing, const SeatTree& tree, Grouper& grouper);

}  // namespace autofinity::mapping
