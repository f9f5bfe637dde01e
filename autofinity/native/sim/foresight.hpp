// What a replay knows of the next steps of a stream before it carries them out (foresight.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "program.hpp"

namespace autofinity::sim {

// A step that will miss the L1, as far as it has been looked at. Lines and physical numbers; 0:
// none, or not known. What has become wrong since does no harm: no result depends on it.
struct ForeseenMiss {
    Line ahead = 0;  // line that the prefetcher fetches with it
    Line entry = 0;  // page-table entry that its walk reads
    // What comes into the L2 for the line and for `ahead`, and into the LLC for all three.
    std::uint32_t line_into_l2 = 0, ahead_into_l2 = 0;
    std::uint32_t line_into_llc = 0, ahead_into_llc = 0, entry_into_llc = 0;
};

struct Foreseen {
    const Step* at = nullptr;  // the present step
    std::uint32_t misses = 0;  // bit i: the access i steps after `at` will miss
    std::array<ForeseenMiss, 8> known{};

    // Of a step that is at most `steps_foreseen` ahead.
    ForeseenMiss& of(const Step* step) {
        return known[reinterpret_cast<std::uintptr_t>(step) / sizeof(Step) % known.size()];
    }
};
static_assert(steps_foreseen < std::tuple_size_v<decltype(Foreseen::known)>);

}  // namespace autofinity::sim
