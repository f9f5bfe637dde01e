// Mapping by recursive bisection: threads and seats are halved together, so that as little sharing
// as possible crosses between the halves, until a part holds one thread.
//
// Each bisection grows one half from a thread and then exchanges threads by Kernighan and Lin's
// method; several starts are tried, and the one with the smallest cut is kept.
#pragma once

#include <vector>

#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"

namespace autofinity::mapping {

// Logical PU of each thread.
std::vector<int> map_by_bisection(const Matrix& sharing, const SeatTree& tree);

}  // namespace autofinity::mapping
