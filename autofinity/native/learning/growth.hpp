// Grow one rule: add the condition that gains most until nothing against the class is covered.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "learning/problem.hpp"

namespace autofinity::learning {

struct Choice {
    Condition condition;
    double gain;
};

// Holds, for every column, what the rule so far covers, ascending: a condition is found in one pass
// over it, and filtering keeps the order. Made once, its room is used again for every rule.
class Growth {
  public:
    // A condition that covers less weight than `least_weight` is not considered.
    Growth(const Problem& over, double least) : problem(over), least_weight(least) {}

    // `start` with conditions added, over the weights of the sample that is grown on.
    Rule grow(const std::vector<Pair>& sample, const Rule& start);
    // The condition with the largest information gain, the first of equal ones; none when none
    // gains. Of neighbouring codes that nothing covered lies between, the middle.
    std::optional<Choice> best(const std::vector<Pair>& sample, const Rule& start);

  private:
    void begin(const std::vector<Pair>& sample, const Rule& start);
    void narrow(std::span<const Condition> conditions);
    // Fills `kept` of a column from what is covered.
    void keep(std::size_t column);
    std::optional<Choice> best_of_all() const;
    // The places of a column, with all that is covered among them.
    const std::vector<Place>& places(std::size_t column) const;

    const Problem& problem;
    double least_weight;
    const std::vector<Pair>* weight = nullptr;  // by cell
    std::vector<Cell> cells;                    // covered, and with weight
    std::vector<bool> covered;                  // the same by cell: small enough for the L1
    bool narrowed = false;                 // whether `kept` is filled; if not, all is looked at
    std::vector<std::vector<Place>> kept;  // by column, ascending
};

}  // namespace autofinity::learning
