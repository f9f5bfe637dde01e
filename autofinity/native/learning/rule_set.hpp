// The rules of one class, the cells that they cover, and the length of their description, kept up
// to date.
#pragma once

#include <cstdint>
#include <vector>

#include "learning/problem.hpp"

namespace autofinity::learning {

class RuleSet {
  public:
    explicit RuleSet(const Problem& over)
        : problem(over), covering(over.cells(), 0), uncovered(over.total) {}

    std::size_t size() const { return rules.size(); }
    const Rule& operator[](std::size_t index) const { return rules[index].conditions; }

    void add(Rule rule);
    void replace(std::size_t index, Rule rule);
    // The cells that no rule covers; with `without`, that no other rule than that one covers.
    std::vector<Cell> left() const;
    std::vector<Cell> left(std::size_t without);
    // Description length, in bits; with `rule` instead of the one at `index`.
    double bits() const { return bits_of(theory, uncovered); }
    double bits_with(std::size_t index, const Rule& rule, const std::vector<Cell>& left) const;
    // Removes rules that do not shorten the description, the last first.
    void drop_useless();

  private:
    struct Member {
        Rule conditions;
        std::vector<Cell> cells;  // cells that it covers
    };

    Member member(Rule rule) const;
    void include(const Member& member);
    void exclude(const Member& member);
    double bits_of(const Rule& rule) const;
    double bits_of(double theory_bits, const Pair& left) const;

    const Problem& problem;
    std::vector<Member> rules;
    std::vector<std::int32_t> covering;  // rules that cover a cell
    Pair uncovered;                      // weight that no rule covers
    double theory = 0;                   // bits of all rules
};

}  // namespace autofinity::learning
