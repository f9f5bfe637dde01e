// Copies of TLBs in memory, and the pages that several of them hold: Cruz, Diener & Navaux 2014,
// section 4.2 with its figure 4.
#pragma once

#include <cstdint>
#include <vector>

#include "detect/sharing_counts.hpp"

namespace autofinity::detect {

struct TlbEntry {
    std::uint64_t page;
    Thread thread;  // that accessed it; a TLB that hardware threads share may have a page for each
};

class TlbMirrors {
  public:
    TlbMirrors(std::size_t cores, std::size_t sets)
        : cores_(cores), sets_(sets), in_(cores * sets) {}

    void clear(std::size_t core) {
        for (std::size_t set = 0; set < sets_; ++set) in_[core * sets_ + set].clear();
    }
    void put(std::size_t core, std::size_t set, TlbEntry entry) {
        in_[core * sets_ + set].push_back(entry);
    }
    // Counts each pair of threads once for every page that is in the same set of the core's mirror
    // and of another mirror (or twice in its own). Returns the number of examined entries of
    // others.
    std::size_t match(std::size_t core, SharingCounts& counts) const {
        return match_with(core, 0, counts);
    }
    // Matches every pair of cores once.
    std::size_t match_all(SharingCounts& counts) const {
        std::size_t looked_at = 0;
        for (std::size_t core = 0; core < cores_; ++core)
            looked_at += match_with(core, core, counts);
        return looked_at;
    }
    std::size_t cores() const { return cores_; }
    std::size_t sets() const { return sets_; }

  private:
    // Matches a core with the cores from `first` on.
    std::size_t match_with(std::size_t core, std::size_t first, SharingCounts& counts) const;

    std::size_t cores_, sets_;
    std::vector<std::vector<TlbEntry>> in_;  // of core and set
};

}  // namespace autofinity::detect
