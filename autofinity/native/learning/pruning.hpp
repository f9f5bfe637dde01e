// Prunes one rule: removes its last conditions, as many as improve it on rows that it has not seen.
#pragma once

#include <cstdint>
#include <vector>

#include "learning/problem.hpp"

namespace autofinity::learning {

// Measure for pruning: the precision of the rule where it fires, (p + 1) / (p + n + 2), which has
// the same order as p / (p + n) and is a half where nothing is covered; or the accuracy of all
// rules with it.
enum class Worth : std::uint8_t { precision, accuracy };

// Number of the first conditions of `rule` to keep: those with the largest worth on `weight`, the
// fewest among equals. 0: a rule that always fires is as good.
std::size_t conditions_to_keep(const Problem& problem, const std::vector<Pair>& weight,
                               std::vector<Cell> cells, const Rule& rule, Worth worth);

}  // namespace autofinity::learning
