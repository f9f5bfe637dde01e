// The native mappers by name.
#pragma once

#include <string_view>
#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"
#include "topology/machine.hpp"

namespace autofinity::mapping {

// Logical PU of each thread, one for each seat of the tree.
using Mapper = std::vector<int> (*)(const topology::Machine& machine, const Matrix& sharing,
                                    const SeatTree& tree);

// Throws `std::invalid_argument` for an unknown name.
Mapper mapper_of(std::string_view name);

}  // namespace autofinity::mapping
