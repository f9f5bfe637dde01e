// Knowledge of a replay about the next steps of a stream before they are carried out
// (foresight.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "sim/program/program.hpp"

namespace autofinity::sim {

// A step that will miss the L1, as far as it has been examined. Outdated knowledge does no harm: no
// result depends on it.
struct ForeseenMiss {
    Line ahead = 0;  // line that the prefetcher fetches with it; 0: none
    // Sets that the line and `ahead` come into: of the L2 at first, then of the LLC. Null: none, or
    // not known.
    const Word* into = nullptr;
    const Word* ahead_into = nullptr;
    // Set of a finite directory in which the line that is fetched last gets an entry.
    const Word* tracked = nullptr;
};

struct Foreseen {
    const Step* at = nullptr;  // the present step
    std::uint32_t misses = 0;  // bit i: the access i steps after `at` will miss
    std::array<ForeseenMiss, 8> known{};

    // The entry of a step that is at most `steps_foreseen` ahead.
    ForeseenMiss& of(const Step* step) {
        return known[reinterpret_cast<std::uintptr_t>(step) / sizeof(Step) % known.size()];
    }
};
static_assert(steps_foreseen < std::tuple_size_v<decltype(Foreseen::known)>);

}  // namespace autofinity::sim
