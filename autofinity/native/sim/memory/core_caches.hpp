// Cores that have caches in the simulation, and their L2 domains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "busy_lines.hpp"
#include "l2_domain.hpp"
#include "llc_choice.hpp"
#include "pages.hpp"
#include "private_caches.hpp"
#include "sim/counts.hpp"
#include "sim/machine.hpp"

namespace autofinity::sim {

class CoreCaches {
  public:
    // At most `most` cores at a time.
    CoreCaches(const MachineModel& machine, std::uint32_t most, const Pages& pages, BusyLines& busy,
               const LlcChoice& llc_choice);

    std::uint32_t most() const { return most_; }
    bool has_room() const { return !free_.empty() || cores_.size() < most_; }
    bool has(std::uint32_t core) const { return cached_core_of_[core] >= 0; }
    // Number of cached cores so far.
    std::uint32_t count() const { return static_cast<std::uint32_t>(cores_.size()); }
    // Number of a core, given on first use. Throws SimulationError where there is no room.
    std::uint32_t number_of(std::uint32_t core);
    // The core's caches are released. Their lines must have left; the other cores of a shared L2
    // keep its lines.
    void release(std::uint32_t cached_core);

    PrivateCaches& operator[](std::uint32_t cached_core) const { return *cores_[cached_core]; }
    // L2 domains in use are numbered, too; where L2s are private, like the cached cores.
    std::uint32_t domains() const { return static_cast<std::uint32_t>(domains_.size()); }
    L2Domain& domain(std::uint32_t number) const { return *domains_[number]; }
    // Domains whose lines an LLC may have, as bits in as many words as a line's sharers have.
    const std::uint64_t* domains_of_llc(std::uint32_t llc) const {
        return &domains_of_llc_[std::size_t{llc} * words_];
    }
    // Takes the counts of cores on which nothing runs.
    Counts& nobody() { return nobody_; }

  private:
    std::uint32_t domain_of(std::uint32_t core);
    // Marks a domain as one whose lines its LLCs may have, or removes the mark.
    void flip(std::uint32_t domain);

    const MachineModel& machine_;
    const Pages& pages_;
    BusyLines& busy_;
    const LlcChoice& llc_choice_;
    const std::uint32_t most_;
    const std::uint32_t words_;
    std::vector<std::unique_ptr<PrivateCaches>> cores_;
    std::vector<std::int32_t> cached_core_of_;  // by core; -1: none
    std::vector<std::uint32_t> free_;
    std::vector<std::unique_ptr<L2Domain>> domains_;
    std::vector<std::int32_t> domain_of_l2_;  // by number in the machine; -1: none
    std::vector<std::uint32_t> free_domains_;
    std::vector<bool> l2_is_shared_;  // by number in the machine
    std::vector<std::uint64_t> domains_of_llc_;
    Counts nobody_{};
};

}  // namespace autofinity::sim
