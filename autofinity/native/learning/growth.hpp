// Grow one rule: add the condition that gains most until nothing against the class is covered.
#pragma once

#include <optional>
#include <vector>

#include "learning/problem.hpp"

namespace autofinity::learning {

struct Choice {
    Condition condition;
    double gain;
};

// While much is covered, the weight of each block of codes is summed in one pass over the cells,
// and only blocks in which a condition could gain most are looked into. What is left when little is
// covered is sorted once by each column; filtering keeps the order. Made once, its room is used
// again for every rule.
class Growth {
  public:
    // A condition that covers less weight than `least_weight` is not considered.
    Growth(const Problem& over, double least) : problem(over), least_weight(least) {}

    // `start` with conditions added, over the weights of the sample that is grown on, by cell, of
    // the cells that are left.
    Rule grow(const std::vector<Pair>& sample, const std::vector<Cell>& left, const Rule& start);
    // The condition with the largest information gain, the first of equal ones; none when none
    // gains. Of neighbouring codes that nothing covered lies between, the middle.
    std::optional<Choice> best(const std::vector<Pair>& sample, const std::vector<Cell>& left);

  private:
    class Best;

    void begin(const std::vector<Pair>& sample, const std::vector<Cell>& left, const Rule& start);
    // Brings `covered` and `kept` in line with `cells`.
    void mark();
    // Fills `kept` of a column from what is covered.
    void keep(std::size_t column);
    std::optional<Choice> best_of_all();
    // The conditions that one column allows; `all` is the weight of what is covered.
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
