// RIPPERk: ordered rules for several classes.
//
// Source: W. Cohen, "Fast Effective Rule Induction" (ICML 1995). Classes are taken from the rarest
// to the most frequent, each against all that are left; the most frequent is the default. For one
// class (IREP*): grow a rule on two thirds of the rows by information gain, prune it on the last
// third, keep adding rules until the description is 64 bits longer than the shortest seen or a rule
// is wrong as often as right (on all rows that are left: the last third of a rare class holds few);
// then k times reconsider each rule against a replacement grown from nothing and a revision grown
// from the rule, and cover what is left.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "learning/table.hpp"

namespace autofinity::learning {

struct Settings {
    int passes = 2;           // k
    double least_weight = 2;  // least weight that a condition leaves covered while a rule is grown
    std::uint64_t seed = 1;
    std::function<void()> pause = [] {};  // called before each rule; may throw to stop
};

struct FoundRule {
    Rule conditions;             // none: the default, which is last
    std::vector<double> weight;  // by class, of the rows where this rule fires first
    int label;                   // label that it was grown for
};

std::vector<FoundRule> ripper(const Table& table, const Settings& settings);

}  // namespace autofinity::learning
