// Length of the description of a rule set and its exceptions, in bits.
#pragma once

#include "learning/rule.hpp"

namespace autofinity::learning {

// Bits of the conditions of one rule, chosen among `possible` ones, halved for redundancy (Cohen
// 1995, section 3.2, after Quinlan).
double rule_bits(double conditions, double possible);

// Bits of the rows that the rules get wrong, given the covered and the other rows (Quinlan 1995,
// "MDL and Categorical Theories (Continued)": errors are expected to be half of either kind).
double exception_bits(const Pair& covered, const Pair& left);

}  // namespace autofinity::learning
