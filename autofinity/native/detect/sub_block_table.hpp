// The sub-block vectors of kMAF'14 (section 3.2, figure 5): exact, one for each touched block.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "detect/last_threads.hpp"

namespace autofinity::detect {

class SubBlockTable {
  public:
    explicit SubBlockTable(std::uint32_t sharers) : sharers_(sharers) {}

    // Puts the thread in front; then all pairs of the vector count.
    void touch(std::uint64_t block, Thread thread, SharingCounts& counts) {
        const auto [at, added] = last_.try_emplace(block);
        if (added) at->second.fill(no_thread);
        const std::span<Thread> last(at->second.data(), sharers_);
        enter(last, thread);
        for (std::size_t i = 1; i < last.size(); ++i) count_with(last.first(i), last[i], counts);
    }

    std::vector<Thread> threads_at(std::uint64_t block) const {
        const auto at = last_.find(block);
        if (at == last_.end()) return std::vector<Thread>(sharers_, no_thread);
        return {at->second.begin(), at->second.begin() + sharers_};
    }

    std::size_t size() const { return last_.size(); }

  private:
    std::uint32_t sharers_;
    std::unordered_map<std::uint64_t, std::array<Thread, most_sharers>> last_;
};

}  // namespace autofinity::detect
