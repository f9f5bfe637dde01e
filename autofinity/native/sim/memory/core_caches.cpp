#include "core_caches.hpp"

#include <string>

#include "sharers.hpp"
#include "sim/error.hpp"

namespace autofinity::sim {

CoreCaches::CoreCaches(const MachineModel& machine, std::uint32_t most, const Pages& pages,
                       BusyLines& busy, const LlcChoice& llc_choice)
    : machine_(machine),
      pages_(pages),
      busy_(busy),
      llc_choice_(llc_choice),
      most_(most),
      words_((most - 1) / domains_in_a_word + 1),
      cached_core_of_(machine.topology.cores(), -1),
      domain_of_l2_(machine.topology.cores(), -1),
      l2_is_shared_(machine.topology.cores(), false),
      domains_of_llc_(std::size_t{machine.topology.llcs()} * words_, 0) {
    std::vector<bool> seen(l2_is_shared_.size(), false);
    for (const std::uint32_t l2 : machine.topology.l2_of_core()) {
        if (seen[l2]) l2_is_shared_[l2] = true;
        seen[l2] = true;
    }
}

void CoreCaches::flip(std::uint32_t domain) {
    for (const std::uint32_t llc : llc_choice_.group(domains_[domain]->llc))
        domains_of_llc_[std::size_t{llc} * words_ + domain / domains_in_a_word] ^=
            std::uint64_t{1} << domain % domains_in_a_word;
}

// The L2 domain of a core that begins to be used.
std::uint32_t CoreCaches::domain_of(std::uint32_t core) {
    const std::uint32_t l2 = machine_.topology.l2_of_core()[core];
    if (domain_of_l2_[l2] >= 0) return static_cast<std::uint32_t>(domain_of_l2_[l2]);
    std::uint32_t domain = domains();
    if (!free_domains_.empty()) {
        domain = free_domains_.back();
        free_domains_.pop_back();
    } else {
        domains_.emplace_back();
    }
    domain_of_l2_[l2] = static_cast<std::int32_t>(domain);
    domains_[domain] = std::make_unique<L2Domain>(machine_, core, l2_is_shared_[l2], pages_, busy_);
    flip(domain);
    return domain;
}

std::uint32_t CoreCaches::number_of(std::uint32_t core) {
    if (has(core)) return static_cast<std::uint32_t>(cached_core_of_[core]);
    std::uint32_t number = count();
    if (!free_.empty()) {
        number = free_.back();
        free_.pop_back();
    } else if (!has_room()) {
        throw SimulationError("more than " + std::to_string(most_) + " cores at a time");
    } else {
        cores_.emplace_back();
    }
    cached_core_of_[core] = static_cast<std::int32_t>(number);
    const std::uint32_t domain = domain_of(core);
    L2Domain& of = *domains_[domain];
    cores_[number] = std::make_unique<PrivateCaches>(machine_, pages_.units, core, number, domain,
                                                     of.l2, of.is_shared);
    cores_[number]->counts = &nobody_;
    of.join(*cores_[number]);
    return number;
}

void CoreCaches::release(std::uint32_t cached_core) {
    PrivateCaches& c = *cores_[cached_core];
    L2Domain& of = *domains_[c.domain];
    cached_core_of_[c.core] = -1;
    free_.push_back(cached_core);
    of.leave(c);
    if (!of.cores().empty()) return;
    flip(c.domain);
    domain_of_l2_[of.number] = -1;
    free_domains_.push_back(c.domain);
}

}  // namespace autofinity::sim
