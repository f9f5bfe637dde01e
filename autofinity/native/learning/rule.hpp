// Conditions and rules over codes: the places of values in the ascending list of a column's values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace autofinity::learning {

using Cell = std::int32_t;
using Code = std::int32_t;

// The code of a missing value; every condition fails for it.
inline constexpr Code missing = -1;

enum class Relation : std::uint8_t { at_most, at_least, equal };

struct Condition {
    int column = 0;
    Relation relation = Relation::equal;
    Code code = missing;

    bool holds(Code other) const {
        switch (relation) {
            case Relation::at_most:
                return other != missing && other <= code;
            case Relation::at_least:
                return other >= code;
            case Relation::equal:
                return other == code;
        }
        return false;
    }
};

// All conditions hold; in the order in which they were added.
using Rule = std::vector<Condition>;

// Weight for and against the class that is being learned.
struct Pair {
    double right = 0;
    double wrong = 0;

    double sum() const { return right + wrong; }
    Pair& operator+=(const Pair& other) {
        right += other.right;
        wrong += other.wrong;
        return *this;
    }
    Pair operator+(const Pair& other) const { return Pair(*this) += other; }
    // Of a part; rounding leaves nothing negative.
    Pair operator-(const Pair& part) const {
        return {std::max(right - part.right, 0.0), std::max(wrong - part.wrong, 0.0)};
    }
};

}  // namespace autofinity::learning
