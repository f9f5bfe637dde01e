#include "detect/page_history.hpp"

#include <algorithm>
#include <span>

namespace autofinity::detect {

bool PageHistory::update(std::size_t page, Thread thread, std::uint32_t node,
                         std::uint32_t accesses, SharingCounts& counts) {
    const std::uint32_t at = threshold_[page];
    threshold_[page] = adjusted_threshold(at, accesses);
    if (accesses < at) return false;
    const std::span<Thread> sv(sharers_.data() + page * shape_.sharers, shape_.sharers);
    count_with(sv, thread, counts);
    // Plain shifting: a thread that comes twice is there twice (section 3.2).
    std::copy_backward(sv.begin(), sv.end() - 1, sv.end());
    sv.front() = thread;
    for (std::uint32_t other = 0; other < nodes_; ++other) {
        std::uint16_t& counter = numa_[page * nodes_ + other];
        if (other == node)
            counter = static_cast<std::uint16_t>(
                std::min<std::uint32_t>(counter + shape_.v_add, shape_.most_counted));
        else
            counter = static_cast<std::uint16_t>(counter - (counter > 0));
    }
    return true;
}

}  // namespace autofinity::detect
