#include "mapping/cost.hpp"

namespace autofinity::mapping {

double cost_of(const topology::Machine& machine, const Matrix& sharing,
               const std::vector<int>& pu_of_thread) {
    double sum = 0;
    for (int i = 0; i < sharing.size(); ++i) {
        const double* row = sharing.row(i);
        for (int j = 0; j < i; ++j) {
            sum += row[j] * machine.distance(pu_of_thread[i], pu_of_thread[j]);
        }
    }
    return sum;
}

}  // namespace autofinity::mapping
