// Grows one rule: adds the condition with the largest gain until no row against the class is
// covered.
#pragma once

#include <optional>
#include <vector>

#include "learning/problem.hpp"

namespace autofinity::learning {

struct Choice {
    Condition condition;
    double gain;
};

// While many rows are covered, the weight of each block of codes is summed in one pass over the
// cells, and only blocks in which a condition could have the largest gain are examined. When few
// rows are covered, they are sorted once by each column; filtering keeps the order. An object is
// made once, and its memory is used again for every rule.
class Growth {
  public:
    // A condition that covers less weight than `least_weight` is not considered.
    Growth(const Problem& over, double least) : problem(over), least_weight(least) {}

    // `start` with conditions added, over the weights of the growing sample, by cell, of the
    // remaining cells.
    Rule grow(const std::vector<Pair>& sample, const std::vector<Cell>& left, const Rule& start);
    // The condition with the largest information gain, the first of equal ones; none when none
    // gains. Among neighbouring codes with no covered value between them, the middle.
    std::optional<Choice> best(const std::vector<Pair>& sample, const std::vector<Cell>& left);

  private:
    class Best;

    void begin(const std::vector<Pair>& sample, const std::vector<Cell>& left, const Rule& start);
    // Updates `covered` and `kept` to match `cells`.
    void mark();
    // Fills `kept` of a column from the covered cells.
    void keep(std::size_t column);
    std::optional<Choice> best_of_all();
    // Examines the conditions that one column allows; `all` is the covered weight.
    void look_at_kept(std::size_t column, const Pair& all, Best& best) const;
    void look_at_blocks(std::size_t column, const Pair& all, Best& best);

    const Problem& problem;
    double least_weight;
    const std::vector<Pair>* weight = nullptr;  // by cell
    std::vector<Cell> cells;                    // covered, and with weight
    std::vector<bool> covered;                  // the same by cell: small enough for the L1
    bool few = false;                           // covered: `kept` is filled then, and looked at
    std::vector<std::vector<Place>> kept;       // by column, ascending
    std::vector<Pair> blocks;                   // of missing values, then by block
};

}  // namespace autofinity::learning
