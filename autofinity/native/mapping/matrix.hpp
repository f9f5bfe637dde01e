// A square matrix of sharing between threads, or between groups of them: symmetric, zero diagonal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace autofinity::mapping {

class Matrix {
  public:
    explicit Matrix(int size)
        : size_(size), stride_(size + padding), cells_(static_cast<size_t>(size) * stride_, 0.0) {}

    int size() const { return size_; }
    double* row(int i) { return cells_.data() + static_cast<size_t>(i) * stride_; }
    const double* row(int i) const { return cells_.data() + static_cast<size_t>(i) * stride_; }
    double at(int i, int j) const { return row(i)[j]; }

    // Matrix of some elements, in this order.
    Matrix among(const std::vector<int>& chosen) const {
        Matrix made(static_cast<int>(chosen.size()));
        for (int i = 0; i < made.size_; ++i) {
            double* to = made.row(i);
            const double* from = row(chosen[i]);
            for (int j = 0; j < made.size_; ++j) {
                to[j] = from[chosen[j]];
            }
        }
        return made;
    }

    // Block by block, since the cells of a column are far apart in memory.
    bool is_symmetric() const {
        constexpr int block = 16;
        bool same = true;
        for (int rows = 0; rows < size_; rows += block) {
            for (int columns = 0; columns <= rows; columns += block) {
                for (int i = rows; i < std::min(rows + block, size_); ++i) {
                    for (int j = columns; j < std::min(columns + block, i); ++j) {
                        same &= at(i, j) == at(j, i);
                    }
                }
            }
        }
        return same;
    }

    bool has_zero_diagonal() const {
        bool zero = true;
        for (int i = 0; i < size_; ++i) {
            zero &= at(i, i) == 0;
        }
        return zero;
    }

  private:
    // Numbers between rows: cells of a column would share a cache's set if rows took a power of
    // two.
    static constexpr int padding = 8;

    int size_;
    int stride_;
    std::vector<double> cells_;
};

}  // namespace autofinity::mapping
