// One class against the remaining classes, over the cells that no earlier rule covers.
#pragma once

#include <cstdint>
#include <vector>

#include "learning/table.hpp"

namespace autofinity::learning {

// Number of rows that the weight of a cell stands for, for and against: at least one for any
// weight.
struct Units {
    std::int64_t right = 0;
    std::int64_t wrong = 0;
};

struct Place {
    Cell cell;
    Code code;
};

struct Problem {
    std::vector<const Column*> columns;      // for values and kinds; their codes are of the table
    std::vector<std::vector<Code>> codes;    // column × cell
    std::vector<std::vector<Place>> sorted;  // column → cells whose value is known, ascending
    std::vector<Pair> weight;                // by cell
    std::vector<Units> units;                // by cell
    Pair total;                              // of all cells
    double possible = 0;                     // conditions that can be made

    std::size_t cells() const { return weight.size(); }
    // Drops the cells that the condition does not hold for.
    void keep(const Condition& condition, std::vector<Cell>& cells) const {
        keep_covered(condition, codes[condition.column], cells);
    }
    // The cells, among some, that the rule covers.
    std::vector<Cell> covered(const Rule& rule, std::vector<Cell> cells) const;
    Pair weight_of(const std::vector<Cell>& cells) const;
};

// `cells` are the remaining cells of the table; in the problem they are numbered from 0.
Problem make_problem(const Table& table, const std::vector<Cell>& cells, int label);

}  // namespace autofinity::learning
