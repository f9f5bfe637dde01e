// The training rows with repetitions merged: distinct rows ("cells") and the weight of each class
// in them. Cells are in lexicographic order, so that the result of learning does not depend on the
// order of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learning/rule.hpp"

namespace autofinity::learning {

struct Column {
    bool nominal = false;
    std::vector<double> values;  // ascending, by code
    std::vector<Code> codes;     // by cell

    // The number that separates code and code + 1: at most it, or above it.
    double cut_above(Code code) const;
    // Number of conditions that can be made of the column.
    double possible() const;
};

struct ClassWeight {
    int label;
    double weight;
};

struct Table {
    std::vector<Column> columns;
    std::vector<std::size_t> first;    // by cell: where its classes begin; one more at the end
    std::vector<ClassWeight> weights;  // positive, by cell and ascending label
    int classes = 0;

    std::size_t cells() const { return first.size() - 1; }
    std::span<const ClassWeight> of(Cell cell) const;
    // The condition as (column, relation, number): at most, above, or equal to the number.
    double number_of(const Condition& condition) const;
};

// `values` are rows × columns, NaN is missing; labels are 0 to classes - 1. Rows without weight are
// left out.
Table make_table(std::span<const double> values, const std::vector<bool>& nominal,
                 std::span<const std::int32_t> labels, std::span<const double> weights,
                 int classes);

}  // namespace autofinity::learning
