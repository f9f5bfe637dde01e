// Time that detectors and mechanisms have taken from the cores that a program runs on, by kind.
#pragma once

#include <array>
#include <cstddef>

#include "sim/machine.hpp"

namespace autofinity::sim {

enum class Overhead : std::size_t {
    fault,             // induced page faults
    update,            // of the tables of a detector
    shootdown,         // notifying other cores to forget translations
    interrupt,         // the notification on such a core
    tlb_read,          // copying a TLB to memory
    tlb_compare,       // looking for equal entries
    sample,            // interrupts of the PMU
    thread_migration,  // of threads that were bound again
};

inline constexpr std::array overhead_names = {"fault",     "update",          "shootdown",
                                              "interrupt", "tlb read",        "tlb compare",
                                              "sample",    "thread migration"};

class OverheadTicks {
  public:
    Ticks& operator[](Overhead kind) { return ticks_[static_cast<std::size_t>(kind)]; }
    const std::array<Ticks, overhead_names.size()>& all() const { return ticks_; }

  private:
    std::array<Ticks, overhead_names.size()> ticks_{};
};

}  // namespace autofinity::sim
