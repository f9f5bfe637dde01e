// Which cores have caches in the simulation: at most `most_slots` at a time.
#include <initializer_list>
#include <string>

#include "memory.hpp"
#include "sim/error.hpp"

namespace autofinity::sim {

// L2 domain of a core that comes into use.
std::uint32_t Memory::domain_of(std::uint32_t core) {
    const std::uint32_t l2 = machine_.topology.l2_of_core()[core];
    if (domain_of_l2_[l2] >= 0) return static_cast<std::uint32_t>(domain_of_l2_[l2]);
    auto domain = static_cast<std::uint32_t>(l2_domains_.size());
    if (!free_domains_.empty()) {
        domain = free_domains_.back();
        free_domains_.pop_back();
    } else {
        l2_domains_.emplace_back();
    }
    domain_of_l2_[l2] = static_cast<std::int32_t>(domain);
    l2_domains_[domain] = std::make_unique<L2Domain>(machine_, core, l2_is_shared_[l2]);
    domains_of_llc(machine_.topology.llc_of_core()[core])[domain / domains_in_a_word] |=
        std::uint64_t{1} << domain % domains_in_a_word;
    return domain;
}

std::uint32_t Memory::slot_of(std::uint32_t core) {
    if (slot_of_core_[core] >= 0) return static_cast<std::uint32_t>(slot_of_core_[core]);
    std::uint32_t slot = slots();
    if (!free_slots_.empty()) {
        slot = free_slots_.back();
        free_slots_.pop_back();
    } else if (!has_slot()) {
        throw SimulationError("more than " + std::to_string(most_slots_) + " cores at a time");
    } else {
        cores_.emplace_back();
    }
    slot_of_core_[core] = static_cast<std::int32_t>(slot);
    const std::uint32_t domain = domain_of(core);
    L2Domain& of = *l2_domains_[domain];
    cores_[slot] = std::make_unique<PrivateCaches>(machine_, core, pages_.units, of, domain);
    cores_[slot]->counts = &nobody_;
    of.slots.push_back(slot);
    of.first = cores_[of.slots[0]].get();
    return slot;
}

void Memory::release_slot(std::uint32_t slot) {
    PrivateCaches& c = *cores_[slot];
    L2Domain& of = *l2_domains_[c.domain];
    counts_ = &nobody_;
    slot_of_core_[c.core] = -1;
    free_slots_.push_back(slot);
    if (of.slots.size() > 1) {
        leave_shared_l2(slot);
        return;
    }
    for (const Sets* level : std::initializer_list<const Sets*>{&c.l1, &c.l2}) {
        const auto words = level->words();
        // Evictions change the sets under way.
        for (const Word word : std::vector<Word>(words.begin(), words.end())) {
            if (state_of(word) == invalid) continue;
            if (const Word state = drop_private(c.domain, line_of(word)); state != invalid)
                leave_private(c, word_of(line_of(word), state));
        }
    }
    domains_of_llc(c.llc)[c.domain / domains_in_a_word] &=
        ~(std::uint64_t{1} << c.domain % domains_in_a_word);
    domain_of_l2_[of.number] = -1;
    free_domains_.push_back(c.domain);
    of.slots.clear();
}

}  // namespace autofinity::sim
