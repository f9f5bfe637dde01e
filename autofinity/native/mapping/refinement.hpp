// The best mapping that we can find quickly. It starts from those of EagerMap and of recursive
// bisection. The threads of two parts of the machine (nodes, caches, cores, threads; the large
// parts first) are exchanged until that does not pay on any level. With few threads, some are then
// moved beside others that they share with, and further exchanges that now pay are made, which
// leads out of local optima.
#pragma once

#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"
#include "topology/machine.hpp"

namespace autofinity::mapping {

// Logical PU of each thread. The result is always the same.
std::vector<int> refined(const topology::Machine& machine, const Matrix& sharing,
                         const SeatTree& tree);

}  // namespace autofinity::mapping
