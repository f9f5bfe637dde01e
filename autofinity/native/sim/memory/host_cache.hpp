// Caches of the host that replays: data that will soon be needed is prefetched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace autofinity::sim {

inline constexpr std::size_t host_line_bytes = 64;

// Begins to prefetch the host line at `at`, to be read and written. The empty statement is needed
// because a compiler takes a function that only prefetches for one without effects, and removes its
// calls (GCC 12 did).
[[gnu::always_inline]] inline void bring_near(const void* at) {
    __builtin_prefetch(at, 1);
    asm volatile("");
}
// Prefetches the data `ahead` elements after `at`, which may be after the end of the array.
template <typename T>
[[gnu::always_inline]] inline void bring_near(const T* at, std::size_t ahead) {
    bring_near(
        reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(at) + ahead * sizeof(T)));
}

}  // namespace autofinity::sim
