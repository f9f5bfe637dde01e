#include "learning/table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace autofinity::learning {

namespace {

using Rows = std::vector<std::size_t>;

// Codes of one column of the rows in `kept`; fills the ascending values.
std::vector<Code> codes_of(std::span<const double> values, std::size_t stride, std::size_t column,
                           const Rows& kept, std::vector<double>& distinct) {
    std::vector<std::pair<double, std::size_t>> known;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const double value = values[kept[i] * stride + column];
        if (!std::isnan(value)) known.emplace_back(value, i);
    }
    std::sort(known.begin(), known.end());
    std::vector<Code> codes(kept.size(), missing);
    for (const auto& [value, i] : known) {
        if (distinct.empty() || value != distinct.back()) distinct.push_back(value);
        codes[i] = static_cast<Code>(distinct.size() - 1);
    }
    return codes;
}

// Stable counting sort of `order` by keys from -1 to count - 1.
void sort_by(const std::vector<std::int32_t>& keys, std::size_t count, Rows& order) {
    std::vector<std::size_t> place(count + 2, 0);
    for (const std::int32_t key : keys) ++place[key + 2];
    std::partial_sum(place.begin(), place.end(), place.begin());
    Rows sorted(order.size());
    for (const std::size_t row : order) sorted[place[keys[row] + 1]++] = row;
    order = std::move(sorted);
}

// In ascending order, so that the sum does not depend on the order of the rows.
double sum_of(std::vector<double>& parts) {
    std::sort(parts.begin(), parts.end());
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace

double Column::cut_above(Code code) const { return std::midpoint(values[code], values[code + 1]); }

double Column::possible() const {
    const double count = static_cast<double>(values.size());
    return nominal ? count : 2 * std::max(count - 1, 0.0);
}

std::span<const ClassWeight> Table::of(Cell cell) const {
    return std::span(weights).subspan(first[cell], first[cell + 1] - first[cell]);
}

double Table::number_of(const Condition& condition) const {
    const Column& column = columns[condition.column];
    switch (condition.relation) {
        case Relation::at_most:
            return column.cut_above(condition.code);
        case Relation::at_least:
            return column.cut_above(condition.code - 1);
        case Relation::equal:
            return column.values[condition.code];
    }
    return 0;
}

Table make_table(std::span<const double> values, const std::vector<bool>& nominal,
                 std::span<const std::int32_t> labels, std::span<const double> weights,
                 int classes) {
    Rows kept;
    for (std::size_t row = 0; row < labels.size(); ++row) {
        if (weights[row] > 0) kept.push_back(row);
    }
    const std::size_t width = nominal.size();
    Table table;
    table.classes = classes;
    table.columns.resize(width);
    std::vector<std::vector<Code>> codes(width);
    for (std::size_t c = 0; c < width; ++c) {
        table.columns[c].nominal = nominal[c];
        codes[c] = codes_of(values, width, c, kept, table.columns[c].values);
    }
    std::vector<std::int32_t> label(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) label[i] = labels[kept[i]];
    Rows order(kept.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    sort_by(label, static_cast<std::size_t>(classes), order);
    for (std::size_t c = width; c-- > 0;) sort_by(codes[c], table.columns[c].values.size(), order);

    std::vector<double> parts;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t row = order[i];
        const bool same = i > 0 && std::all_of(codes.begin(), codes.end(), [&](const auto& column) {
                              return column[row] == column[order[i - 1]];
                          });
        if (!same) {
            table.first.push_back(table.weights.size());
            for (std::size_t c = 0; c < width; ++c) {
                table.columns[c].codes.push_back(codes[c][row]);
            }
        }
        parts.push_back(weights[kept[row]]);
        const bool last = i + 1 == order.size() || label[order[i + 1]] != label[row] ||
                          std::any_of(codes.begin(), codes.end(), [&](const auto& column) {
                              return column[row] != column[order[i + 1]];
                          });
        if (last) {
            table.weights.push_back({label[row], sum_of(parts)});
            parts.clear();
        }
    }
    table.first.push_back(table.weights.size());
    return table;
}

}  // namespace autofinity::learning
