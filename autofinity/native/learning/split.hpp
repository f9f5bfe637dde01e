// Random split of the rows into those that a rule is grown on and those that it is pruned on.
#pragma once

#include <cstdint>
#include <vector>

#include "learning/problem.hpp"

namespace autofinity::learning {

// SplitMix64 (Steele, Lea & Flood 2014): the same on every machine.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : state(seed) {}

    // In [0, 1).
    double uniform() {
        state += 0x9E3779B97F4A7C15u;
        std::uint64_t mixed = state;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
        mixed ^= mixed >> 31;
        return static_cast<double>(mixed >> 11) * 0x1p-53;
    }
    // Number of rows of a certain set of `some` among `drawn` random rows out of `all`.
    std::int64_t among(std::int64_t some, std::int64_t all, std::int64_t drawn);

  private:
    std::uint64_t state;
};

// Weights of the split cells, by cell; zero where a cell has no row in the sample.
struct Samples {
    std::vector<Pair> growing;
    std::vector<Pair> pruning;
};

// Puts two thirds of the rows of the cells in `left` into the growing sample and one third into the
// pruning sample, for rows for the class and against it alike. Rows of one cell may go to either.
void split(const Problem& problem, const std::vector<Cell>& left, Draw& draw, Samples& samples);

}  // namespace autofinity::learning
