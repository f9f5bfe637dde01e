// The cheapest mapping, by branch and bound: the baseline of the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"
#include "topology/machine.hpp"

namespace autofinity::mapping {

// Logical PU of each thread, `known` if no mapping is cheaper. No result when more than
// `most_steps` placements of a thread would have to be tried.
std::optional<std::vector<int>> cheapest(const topology::Machine& machine, const Matrix& sharing,
                                         const SeatTree& tree, const std::vector<int>& known,
                                         int64_t most_steps);

}  // namespace autofinity::mapping
