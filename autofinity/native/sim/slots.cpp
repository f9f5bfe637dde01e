// Which cores have caches in the simulation: at most max_cores_in_use at a time.
#include <string>

#include "error.hpp"
#include "memory.hpp"

namespace autofinity::sim {

std::uint32_t Memory::slot_of(std::uint32_t core) {
    if (slot_of_core_[core] >= 0) return static_cast<std::uint32_t>(slot_of_core_[core]);
    std::uint32_t slot = slots();
    if (!free_slots_.empty()) {
        slot = free_slots_.back();
        free_slots_.pop_back();
    } else if (!has_slot()) {
        throw SimulationError("more than " + std::to_string(max_cores_in_use) +
                              " cores at a time; place the threads on fewer");
    } else {
        cores_.emplace_back();
    }
    slot_of_core_[core] = static_cast<std::int32_t>(slot);
    cores_[slot] = std::make_unique<PrivateCaches>(machine_, core, pages_.units);
    cores_[slot]->counts = &nobody_;
    slots_of_llc_[machine_.llc_of_core[core]] |= std::uint64_t{1} << slot;
    return slot;
}

void Memory::release_slot(std::uint32_t slot) {
    PrivateCaches& c = *cores_[slot];
    counts_ = &nobody_;
    for (Sets* level : {&c.l1, &c.l2}) {
        const auto words = level->words();
        // Evictions change the sets under way.
        for (const Word word : std::vector<Word>(words.begin(), words.end())) {
            if (state_of(word) == invalid) continue;
            if (const Word state = drop_private(slot, line_of(word)); state != invalid)
                leave_private(slot, word_of(line_of(word), state));
        }
    }
    slots_of_llc_[c.llc] &= ~(std::uint64_t{1} << slot);
    slot_of_core_[c.core] = -1;
    free_slots_.push_back(slot);
}

}  // namespace autofinity::sim
