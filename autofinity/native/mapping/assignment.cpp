#include "mapping/assignment.hpp"

#include <cstddef>
#include <limits>

namespace autofinity::mapping {

namespace {

constexpr double not_reached = std::numeric_limits<double>::infinity();

// Rows are assigned one after the other; prices keep all reduced costs at 0 or above.
class Assignment {
  public:
    Assignment(const std::vector<double>& costs, int size)
        : costs_(costs),
          size_(size),
          row_price_(size, 0.0),
          column_price_(size, 0.0),
          row_of_(size, -1),
          came_from_(size),
          far_(size),
          done_(size) {}

    double least() {
        for (int row = 0; row < size_; ++row) {
            add(row);
        }
        double sum = 0;
        for (int column = 0; column < size_; ++column) {
            sum += cost(row_of_[column], column);
        }
        return sum;
    }

  private:
    double cost(int row, int column) const {
        return costs_[static_cast<size_t>(row) * size_ + column];
    }

    // Dijkstra over the columns from a row without one, to the nearest column without a row.
    void add(int start) {
        for (int column = 0; column < size_; ++column) {
            far_[column] = not_reached;
            done_[column] = 0;
        }
        int row = start;
        int last = -1;
        double walked = 0;
        for (;;) {
            int nearest = -1;
            for (int column = 0; column < size_; ++column) {
                if (done_[column]) {
                    continue;
                }
                const double step =
                    walked + cost(row, column) - row_price_[row] - column_price_[column];
                if (step < far_[column]) {
                    far_[column] = step;
                    came_from_[column] = last;
                }
                if (nearest < 0 || far_[column] < far_[nearest]) {
                    nearest = column;
                }
            }
            walked = far_[nearest];
            done_[nearest] = 1;
            last = nearest;
            if (row_of_[nearest] < 0) {
                break;
            }
            row = row_of_[nearest];
        }
        row_price_[start] += walked;
        for (int column = 0; column < size_; ++column) {
            if (done_[column] && column != last) {
                row_price_[row_of_[column]] += walked - far_[column];
                column_price_[column] -= walked - far_[column];
            }
        }
        for (int column = last; column >= 0; column = came_from_[column]) {
            row_of_[column] = came_from_[column] < 0 ? start : row_of_[came_from_[column]];
        }
    }

    const std::vector<double>& costs_;
    int size_;
    std::vector<double> row_price_;
    std::vector<double> column_price_;
    std::vector<int> row_of_;
    std::vector<int> came_from_;
    std::vector<double> far_;
    std::vector<char> done_;
};

}  // namespace

double least_assignment(const std::vector<double>& costs, int size) {
    return Assignment(costs, size).least();
}

}  // namespace autofinity::mapping
