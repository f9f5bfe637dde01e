// Which cores have caches in the simulation: at most `most_cached_cores` at a time.
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

std::uint32_t Memory::cached_core_of(std::uint32_t core) {
    if (cached_core_of_[core] >= 0) return static_cast<std::uint32_t>(cached_core_of_[core]);
    std::uint32_t cached_core = cached_cores();
    if (!free_.empty()) {
        cached_core = free_.back();
        free_.pop_back();
    } else if (!has_room()) {
        throw SimulationError("more than " + std::to_string(most_) + " cores at a time");
    } else {
        cores_.emplace_back();
    }
    cached_core_of_[core] = static_cast<std::int32_t>(cached_core);
    const std::uint32_t domain = domain_of(core);
    L2Domain& of = *l2_domains_[domain];
    cores_[cached_core] = std::make_unique<PrivateCaches>(machine_, core, pages_.units, of, domain);
    cores_[cached_core]->counts = &nobody_;
    of.cores.push_back(cached_core);
    of.first = cores_[of.cores[0]].get();
    return cached_core;
}

void Memory::release(std::uint32_t cached_core) {
    PrivateCaches& c = *cores_[cached_core];
    L2Domain& of = *l2_domains_[c.domain];
    counts_ = &nobody_;
    cached_core_of_[c.core] = -1;
    free_.push_back(cached_core);
    if (of.cores.size() > 1) {
        leave_shared_l2(cached_core);
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
    of.cores.clear();
}

}  // namespace autofinity::sim
