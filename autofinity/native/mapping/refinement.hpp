// The best mapping we know how to find quickly: EagerMap's and that of recursive bisection, in
// which what two parts of the machine hold (nodes, caches, cores, threads; the large parts first)
// is exchanged until that is not worth while on any level. With few threads some are then brought
// beside others that they share with, and what that makes worth while is exchanged, which leads out
// of local optima.
#pragma once

#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"
#include "topology/machine.hpp"

namespace autofinity::mapping {

// Logical PU of each thread. The same every time.
std::vector<int> refined(const topology::Machine& machine, const Matrix& sharing,
                         const SeatTree& tree);

}  // namespace autofinity::mapping
