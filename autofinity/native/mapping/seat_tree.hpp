// The seats that threads are mapped to, as a tree of the machine's parts.
//
// A seat is room for one thread on a PU; a PU may offer several. Parts whose subtrees hold the same
// numbers of seats have the same shape, so that a group of threads made for one fits the other.
// Where the seats are also in the same order, the parts have the same layout, and can exchange
// their threads unchanged.
#pragma once

#include <vector>

#include "topology/machine.hpp"

namespace autofinity::mapping {

struct Part {
    std::vector<int> children;  // in the next level, in hardware order
    int first_seat = 0;
    int seats = 0;
    int shape = 0;   // among those of its level
    int layout = 0;  // among those of its level
};

class SeatTree {
  public:
    // `pus` are logical PU indices, one for each seat.
    SeatTree(const topology::Machine& machine, std::vector<int> pus);

    // Level 0 is the machine alone, the last level the seats, which are all alike.
    const std::vector<std::vector<Part>>& parts() const { return parts_; }
    // PU of each seat, in hardware order.
    const std::vector<int>& pus() const { return pus_; }
    int seats() const { return static_cast<int>(pus_.size()); }

  private:
    void give_shapes();

    std::vector<int> pus_;
    std::vector<std::vector<Part>> parts_;
};

}  // namespace autofinity::mapping
