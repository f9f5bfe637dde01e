// PUs as Python hands them over: a column for each field, the OS index first.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace autofinity {

using PuColumns = std::vector<std::vector<int64_t>>;

// One `Pu`, an aggregate of the OS index and five further numbers, for each row of six columns.
template <class Pu>
std::vector<Pu> pus_of(const PuColumns& columns) {
    if (columns.size() != 6) {
        throw std::invalid_argument("expected six columns of PUs");
    }
    std::vector<Pu> pus;
    for (size_t i = 0; i < columns[0].size(); ++i) {
        const auto column = [&](int c) { return static_cast<int>(columns[c].at(i)); };
        pus.push_back({columns[0][i], column(1), column(2), column(3), column(4), column(5)});
    }
    return pus;
}

}  // namespace autofinity
