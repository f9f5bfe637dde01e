// The cheapest mapping there is, by branch and bound: the yardstick of the others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"
#include "topology/machine.hpp"

namespace autofinity::mapping {

// Logical PU of each thread, `known` if nothing is cheaper. Nothing when more than `most_steps`
// placements of a thread would have to be looked at.
std::optional<std::vector<int>> cheapest(const topology::Machine& machine, const Matrix& sharing,
                                         const SeatTree& tree, const std::vector<int>& known,
                                         int64_t most_steps);

}  // namespace autofinity::mapping
