// The page history table of SAMMU (Cruz et al. 2016, section 3): access threshold AT, sharers
// vector SV and NUMA counters NC of each page.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "detect/last_threads.hpp"

namespace autofinity::detect {

struct PageHistoryShape {
    std::uint32_t sharers = 2;          // threads of SV, 1 to most_sharers
    std::uint32_t most_counted = 15;    // where a NUMA counter saturates
    std::uint32_t v_add = 2;            // increment of the own node's counter
    std::uint32_t numa_threshold = 10;  // NT
};

class PageHistory {
  public:
    PageHistory(std::size_t pages, std::uint32_t nodes, PageHistoryShape shape)
        : nodes_(nodes),
          shape_(shape),
          threshold_(pages),
          sharers_(pages * shape.sharers, no_thread),
          numa_(pages * nodes) {}

    // Updates a page by `accesses` of a thread on `node`, as its TLB entry counted them (AC) until
    // it was evicted or the counter was full. Returns whether they reached the threshold.
    bool update(std::size_t page, Thread thread, std::uint32_t node, std::uint32_t accesses,
                SharingCounts& counts);
    // Whether a page on `home` should move to `node`: NC[node] - NC[home] >= NT.
    bool should_move(std::size_t page, std::uint32_t home, std::uint32_t node) const {
        const auto nc = numa_of(page);
        return node != home && nc[node] >= nc[home] + shape_.numa_threshold;
    }

    std::size_t pages() const { return threshold_.size(); }
    std::uint32_t nodes() const { return nodes_; }
    std::uint32_t threshold(std::size_t page) const { return threshold_[page]; }
    std::span<const Thread> sharers_of(std::size_t page) const {
        return {sharers_.data() + page * shape_.sharers, shape_.sharers};
    }
    std::span<const std::uint16_t> numa_of(std::size_t page) const {
        return {numa_.data() + page * nodes_, nodes_};
    }

  private:
    std::uint32_t nodes_;
    PageHistoryShape shape_;
    std::vector<std::uint32_t> threshold_;
    std::vector<Thread> sharers_;
    std::vector<std::uint16_t> numa_;
};

// Equations 1 and 2, the second one written so that AC may be 0. It subtracts (AT - AC) AC / AT,
// which is at most a quarter of AT.
inline std::uint32_t adjusted_threshold(std::uint32_t at, std::uint32_t ac) {
    const std::uint64_t t = at, c = ac;
    return static_cast<std::uint32_t>(c >= t ? (t + c) / 2 : t - (t - c) * c / t);
}

}  // namespace autofinity::detect
