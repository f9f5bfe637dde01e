// EagerMap's method of grouping a level: begin with the first free element, and add the element
// that shares most with the group so far until the group is full. Ties go to the first.
#pragma once

#include "mapping/grouping.hpp"

namespace autofinity::mapping {

class Eager : public Grouper {
  public:
    std::vector<std::vector<int>> group(const Matrix& weights, const std::vector<int>& shape,
                                        const std::vector<char>& free,
                                        const Wanted& wanted) override;
};

}  // namespace autofinity::mapping
