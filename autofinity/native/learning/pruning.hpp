// Prune one rule: drop its last conditions, as many as are better dropped on rows it has not seen.
#pragma once

#include <cstdint>
#include <vector>

#include "learning/problem.hpp"

namespace autofinity::learning {

// What pruning looks at: how sure the rule is where it fires, (p + 1) / (p + n + 2), which orders
// as p / (p + n) does and is a half where nothing is covered; or how often all is right with it.
enum class Worth : std::uint8_t { precision, accuracy };

// How many of the first conditions of `rule` to keep: those worth most on `weight`, the fewest of
// equally good ones. 0: always saying yes is as good.
std::size_t conditions_to_keep(const Problem& problem, const std::vector<Pair>& weight,
                               std::vector<Cell> cells, const Rule& rule, Worth worth);

}  // namespace autofinity::learning
