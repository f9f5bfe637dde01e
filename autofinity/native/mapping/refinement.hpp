// A mapping made cheaper by exchanging what is in two parts of the machine: sockets, nodes, caches,
// cores, threads, the large parts first, until nothing is worth while on any level.
#pragma once

#include <vector>

#include "mapping/machine.hpp"
#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"

namespace autofinity::mapping {

// Logical PU of each thread; never costs more than `pu_of_thread`, which fills the seats of `tree`.
std::vector<int> refined(const Machine& machine, const Matrix& sharing, const SeatTree& tree,
                         const std::vector<int>& pu_of_thread);

}  // namespace autofinity::mapping
