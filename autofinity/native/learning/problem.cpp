#include "learning/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace autofinity::learning {

namespace {

std::vector<Place> sorted_by(const std::vector<Code>& codes, std::size_t count) {
    std::vector<Cell> place(count + 1, 0);
    for (const Code code : codes) ++place[code + 1];
    const Cell unknown = place[0];
    place[0] = 0;
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<Place> sorted(codes.size() - unknown);
    for (std::size_t cell = 0; cell < codes.size(); ++cell) {
        const Code code = codes[cell];
        if (code != missing) sorted[place[code]++] = {static_cast<Cell>(cell), code};
    }
    return sorted;
}

// Weights are counts of rows: 3 is three rows, and a weight below 1 is one row that counts less.
std::int64_t units_of(double weight) {
    constexpr double most = 1e15;  // beyond it, doubles cannot count
    return std::max<std::int64_t>(1, std::llround(std::min(weight, most)));
}

}  // namespace

std::vector<Cell> Problem::covered(const Rule& rule, std::vector<Cell> cells) const {
    for (const Condition& condition : rule) keep(condition, cells);
    return cells;
}

Pair Problem::weight_of(const std::vector<Cell>& cells) const {
    Pair sum;
    for (const Cell cell : cells) sum += weight[cell];
    return sum;
}

Problem make_problem(const Table& table, const std::vector<Cell>& cells, int label) {
    Problem problem;
    for (const Column& column : table.columns) {
        problem.columns.push_back(&column);
        problem.possible += column.possible();
        std::vector<Code> codes;
        codes.reserve(cells.size());
        for (const Cell cell : cells) codes.push_back(column.codes[cell]);
        problem.sorted.push_back(sorted_by(codes, column.values.size()));
        problem.codes.push_back(std::move(codes));
    }
    for (const Cell cell : cells) {
        Pair weight;
        Units units;
        for (const ClassWeight& part : table.of(cell)) {
            (part.label == label ? weight.right : weight.wrong) += part.weight;
            (part.label == label ? units.right : units.wrong) += units_of(part.weight);
        }
        problem.total += weight;
        problem.weight.push_back(weight);
        problem.units.push_back(units);
    }
    return problem;
}

}  // namespace autofinity::learning
