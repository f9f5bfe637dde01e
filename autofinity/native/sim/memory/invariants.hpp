// What must hold between any two accesses; tests ask for it.
#pragma once

#include "core_caches.hpp"
#include "directory.hpp"
#include "llcs.hpp"
#include "pages.hpp"
#include "probe_filters.hpp"
#include "sim/machine.hpp"

namespace autofinity::sim {

class Invariants {
  public:
    Invariants(const MachineModel& machine, const Pages& pages, const CoreCaches& cores,
               const Llcs& llcs, const Directory& directory, const ProbeFilters& filters);

    // Throws SimulationError naming the first that is broken.
    void check();

  private:
    // Who holds a line by what is in the arrays.
    Sharers held(Line line) { return held_.sharers(line); }
    void look_at_arrays();
    void check_in_shared_l2(const L2Domain& domain, const PrivateCaches& c, Word word) const;
    void check_line(Line line);
    void check_sharer(Line line, std::uint32_t domain);

    const MachineModel& machine_;
    const Pages& pages_;
    const CoreCaches& cores_;
    const Llcs& llcs_;
    const Directory& directory_;
    const ProbeFilters& filters_;
    Directory held_;
};

}  // namespace autofinity::sim
