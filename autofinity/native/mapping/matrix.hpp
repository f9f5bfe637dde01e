// A square matrix of sharing between threads, or between groups of them: symmetric, zero diagonal.
#pragma once

#include <cstddef>
#include <vector>

namespace autofinity::mapping {

class Matrix {
  public:
    explicit Matrix(int size) : size_(size), cells_(static_cast<size_t>(size) * size, 0.0) {}

    int size() const { return size_; }
    double* row(int i) { return cells_.data() + static_cast<size_t>(i) * size_; }
    const double* row(int i) const { return cells_.data() + static_cast<size_t>(i) * size_; }
    double at(int i, int j) const { return row(i)[j]; }

  private:
    int size_;
    std::vector<double> cells_;
};

}  // namespace autofinity::mapping
