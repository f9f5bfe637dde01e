// Kinds of machines that the path of a miss is compiled for: facts that all machines of a kind
// share are not tested there. `Memory` chooses the kind once, when it is made.
#pragma once

#include <cstdint>

#include "private_caches.hpp"
#include "sim/machine.hpp"

namespace autofinity::sim {

// In all but `any`, each core has an L2 of its own and at most 64 of them are in use.
enum class MachineKind : std::uint8_t {
    any,        // everything is asked
    exclusive,  // L2s hold what left their L1, LLCs what left the L2s; probe filters
    victim,     // L2s hold what their L1 does, LLCs what left the L2s; unlimited directories
    inclusive,  // the same, but LLCs hold what the L2s do
};

// `cached_cores`: most cores that can have caches at a time.
MachineKind kind_of(const MachineModel& machine, std::uint32_t cached_cores);

// Facts that are tested for a machine or a core, or known from the kind.
template <MachineKind kind>
struct Asked {
    static constexpr bool known = kind != MachineKind::any;

    static bool has_l2(const PrivateCaches& c) { return known || c.has_l2; }
    static bool shares_l2(const PrivateCaches& c) { return !known && c.shares_l2; }
    static bool levels_exclude(const PrivateCaches& c) {
        return known ? kind == MachineKind::exclusive : c.exclusive_levels;
    }
    static bool llc_includes(const MachineModel& machine) {
        return known ? kind == MachineKind::inclusive : machine.llc_inclusive;
    }
    static bool llcs_by_home(const MachineModel& machine) {
        return (!known || kind == MachineKind::victim) && machine.llc_by_home;
    }
    static bool limits_directory(const MachineModel& machine) {
        return known ? kind == MachineKind::exclusive : machine.directory.ways != 0;
    }
    static bool many_sharers(std::uint32_t more_words) { return !known && more_words != 0; }
};

}  // namespace autofinity::sim
