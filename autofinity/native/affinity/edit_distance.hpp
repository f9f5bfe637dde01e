// Number of threads that must move to turn one affinity into another.
#pragma once

#include <vector>

namespace autofinity::affinity {

using Occupancy = std::vector<std::vector<int>>;

// Smallest number of threads to move between domains so that `a` becomes isomorphic to `b`; both
// place the same number of threads. Counts of each socket in descending order.
int edit_distance(const Occupancy& a, const Occupancy& b);

}  // namespace autofinity::affinity
