// Invariants that must hold between any two accesses; tests check them.
#pragma once

#include "directory.hpp"
#include "hierarchy.hpp"

namespace autofinity::sim {

class Invariants {
  public:
    explicit Invariants(const Hierarchy& hierarchy);

    // Throws SimulationError, which names the first broken invariant.
    void check();

  private:
    // Holders of a line by the content of the arrays.
    Sharers held(Line line) { return held_.sharers(line); }
    void look_at_arrays();
    void check_in_shared_l2(const L2Domain& domain, const PrivateCaches& c, Word word) const;
    void check_line(Line line);
    void check_sharer(Line line, std::uint32_t domain);

    const Hierarchy& hierarchy_;
    Directory held_;
};

}  // namespace autofinity::sim
