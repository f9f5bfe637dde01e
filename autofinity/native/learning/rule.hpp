// Conditions and rules over codes: the places of values in the ascending list of a column's values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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

    // The codes for which the condition holds: from the least to the most.
    Code least() const { return relation == Relation::at_most ? 0 : code; }
    Code most() const {
        return relation == Relation::at_least ? std::numeric_limits<Code>::max() : code;
    }
};

// A rule: all conditions must hold; in the order in which they were added.
using Rule = std::vector<Condition>;

// Removes the cells for which `holds` is false. Without a branch: removed cells are hard to
// predict.
template <typename Holds>
void keep_where(std::vector<Cell>& cells, const Holds& holds) {
    std::size_t kept = 0;
    for (const Cell cell : cells) {
        cells[kept] = cell;
        kept += holds(cell) ? 1 : 0;
    }
    cells.resize(kept);
}

// Keeps, among some cells of a column of codes, those for which the condition holds.
inline void keep_covered(const Condition& condition, const std::vector<Code>& codes,
                         std::vector<Cell>& cells) {
    const Code least = condition.least();
    const Code most = condition.most();
    keep_where(cells, [&](Cell cell) {
        const Code code = codes[cell];
        return static_cast<int>(code >= least) & static_cast<int>(code <= most);
    });
}

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
    // Difference to a part; rounding leaves nothing negative.
    Pair operator-(const Pair& part) const {
        return {std::max(right - part.right, 0.0), std::max(wrong - part.wrong, 0.0)};
    }
};

}  // namespace autofinity::learning
