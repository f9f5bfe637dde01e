// The last threads at one place, latest first, in cells of a larger table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "detect/sharing_counts.hpp"

namespace autofinity::detect {

inline constexpr std::uint32_t most_sharers = 8;

// Puts the thread in front. A thread that was in the list leaves its old place, otherwise the last
// one leaves.
inline void enter(std::span<Thread> last, Thread thread) {
    const auto old = std::find(last.begin(), last.end(), thread);
    std::rotate(last.begin(), old == last.end() ? old - 1 : old, old == last.end() ? old : old + 1);
    last.front() = thread;
}

// Counts the thread once with each other thread of the list.
inline void count_with(std::span<const Thread> last, Thread thread, SharingCounts& counts) {
    for (const Thread other : last) counts.count(thread, other);
}

}  // namespace autofinity::detect
