// NUMA vectors: saturating counters of the accesses to each page from each node (kMAF'14 section
// 3.2, kMAF'16 section 4.3.1), and the pages that were seen recently.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detect/sharing_counts.hpp"

namespace autofinity::detect {

class NumaTable {
  public:
    // At most `pages` pages are recorded; counters stop at `most`.
    NumaTable(std::uint32_t nodes, std::uint32_t most,
              std::size_t pages = std::numeric_limits<std::size_t>::max())
        : nodes_(nodes), most_(most), pages_(pages) {}

    // Returns whether the page is recorded.
    bool count(std::uint64_t page, std::uint32_t node) {
        auto at = index_.find(page);
        if (at == index_.end()) {
            if (index_.size() >= pages_) return false;
            at = index_.emplace(page, index_.size()).first;
            counters_.resize(counters_.size() + nodes_);
            lately_.push_back(false);
        }
        std::uint32_t& counter = counters_[at->second * nodes_ + node];
        counter += counter < most_;
        if (!lately_[at->second]) {
            lately_[at->second] = true;
            seen_.push_back(page);
        }
        return true;
    }
    void halve(std::uint64_t page) {
        if (!index_.contains(page)) return;
        for (std::uint32_t& counter : vector_of(page)) counter /= 2;
    }
    // Vector of a page that has been counted.
    std::span<std::uint32_t> vector_of(std::uint64_t page) {
        return {counters_.data() + index_.at(page) * nodes_, nodes_};
    }
    bool knows(std::uint64_t page) const { return index_.contains(page); }
    // Takes the pages that were counted since they were last taken, in the order of their first
    // count; with more than `most`, the others stay.
    std::vector<std::uint64_t> take_seen(
        std::size_t most = std::numeric_limits<std::size_t>::max()) {
        std::vector<std::uint64_t> taken = std::exchange(seen_, {});
        if (taken.size() > most) {
            seen_.assign(taken.begin() + static_cast<std::ptrdiff_t>(most), taken.end());
            taken.resize(most);
        }
        for (const std::uint64_t page : taken) lately_[index_.at(page)] = false;
        return taken;
    }
    void forget() {
        index_.clear();
        counters_.clear();
        lately_.clear();
        seen_.clear();
    }
    std::uint32_t nodes() const { return nodes_; }

  private:
    std::uint32_t nodes_, most_;
    std::size_t pages_;
    std::unordered_map<std::uint64_t, std::size_t> index_;
    std::vector<std::uint32_t> counters_;
    std::vector<bool> lately_;
    std::vector<std::uint64_t> seen_;
};

}  // namespace autofinity::detect
