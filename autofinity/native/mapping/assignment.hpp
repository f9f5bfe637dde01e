// The linear assignment problem: rows to columns, one each, at the least sum.
#pragma once

#include <vector>

namespace autofinity::mapping {

// Least sum over a square table of costs, row by row (successive shortest paths, O(n³)).
double least_assignment(const std::vector<double>& costs, int size);

}  // namespace autofinity::mapping
