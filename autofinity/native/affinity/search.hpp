// From "which core sets are acceptable" to one core set: the nodes nearest to each other, then the
// smallest sorted list of OS indices.
#pragma once

#include <cstdint>
#include <vector>

#include "affinity/level.hpp"
#include "affinity/problem.hpp"
#include "topology/machine.hpp"

namespace autofinity::affinity {

// Logical indices of the PUs chosen on the level, ascending OS index; empty when there is no
// acceptable set. PUs on `first` nodes (by machine node; empty: none) come before the distances: in
// ascending order of OS index, each is taken where some acceptable set holds it with those before.
std::vector<int> nearest_set(const topology::Machine& machine, const Level& level, Problem& problem,
                             const std::vector<uint8_t>& first = {});

}  // namespace autofinity::affinity
