#include "learning/description_length.hpp"

#include <algorithm>
#include <cmath>

namespace autofinity::learning {

namespace {

// Bits to encode which `some` of `all` rows, when a share of `share` is expected.
double choice_bits(double all, double some, double share) {
    const double rest = std::max(all - some, 0.0);
    double bits = 0;
    if (some > 0) bits -= some * std::log2(share);
    if (rest > 0) bits -= rest * std::log2(1 - share);
    return bits;
}

double actual_share(double all, double some) { return all > 0 ? some / all : 0; }

}  // namespace

double rule_bits(double conditions, double possible) {
    const double share = actual_share(possible, conditions);
    const double which =
        share < 1 ? choice_bits(possible, std::min(conditions, possible), share) : 0;
    // The universal code of the integers (Rissanen 1983), up to a constant.
    double number = 0;
    for (double bits = std::log2(conditions); bits > 0; bits = std::log2(bits)) number += bits;
    return 0.5 * (number + which);
}

double exception_bits(const Pair& covered, const Pair& left) {
    const double all = covered.sum() + left.sum();
    const double errors = covered.wrong + left.right;
    double bits = std::log2(all + 1);
    // The kind of errors of the larger part is sent first, at the rate that is expected.
    if (covered.sum() > all / 2) {
        const double expected = std::min(errors / (2 * covered.sum()), 0.5);
        bits += choice_bits(covered.sum(), covered.wrong, expected);
        bits += choice_bits(left.sum(), left.right, actual_share(left.sum(), left.right));
    } else {
        const double expected = left.sum() > 0 ? std::min(errors / (2 * left.sum()), 0.5) : 0;
        bits +=
            choice_bits(covered.sum(), covered.wrong, actual_share(covered.sum(), covered.wrong));
        bits += choice_bits(left.sum(), left.right, expected);
    }
    return bits;
}

}  // namespace autofinity::learning
