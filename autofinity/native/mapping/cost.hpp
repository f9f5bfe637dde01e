// Cost of a mapping: sharing times distance, over all pairs of threads.
#pragma once

#include <vector>

#include "mapping/matrix.hpp"
#include "topology/machine.hpp"

namespace autofinity::mapping {

// `pu_of_thread` are logical indices.
double cost_of(const topology::Machine& machine, const Matrix& sharing,
               const std::vector<int>& pu_of_thread);

}  // namespace autofinity::mapping
