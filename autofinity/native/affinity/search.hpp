// From "which core sets are acceptable" to one core set: the nodes nearest to each other, then the
// smallest sorted list of OS indices.
#pragma once

#include <vector>

#include "affinity/level.hpp"
#include "affinity/problem.hpp"
#include "topology/machine.hpp"

namespace autofinity::affinity {

// Logical indices of the PUs chosen on the level, ascending OS index; empty when there is no
// acceptable set.
std::vector<int> nearest_set(const topology::Machine& machine, const Level& level,
                             Problem& problem);

}  // namespace autofinity::affinity
