// EagerMap's way to group a level: begin with the first element that is free, and add the one that
// shares most with the group so far until it is full. Ties go to the first.
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
