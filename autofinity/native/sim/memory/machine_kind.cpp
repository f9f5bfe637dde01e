#include "machine_kind.hpp"

#include <algorithm>

#include "sharers.hpp"

namespace autofinity::sim {

MachineKind kind_of(const MachineModel& machine, std::uint32_t cached_cores) {
    const bool exclusive = machine.classes[0].side.l2_exclusive;
    const bool have_l2s = std::ranges::all_of(machine.classes, [&](const CoreClass& each) {
        return each.side.l2.ways != 0 && each.side.l2_exclusive == exclusive;
    });
    if (!have_l2s || has_shared_l2(machine) || cached_cores > domains_in_a_word)
        return MachineKind::any;
    const bool limited = machine.directory.ways != 0;
    if (exclusive && limited && !machine.llc_inclusive && !machine.llc_by_home)
        return MachineKind::exclusive;
    if (exclusive || limited) return MachineKind::any;
    return machine.llc_inclusive ? MachineKind::inclusive : MachineKind::victim;
}

}  // namespace autofinity::sim
