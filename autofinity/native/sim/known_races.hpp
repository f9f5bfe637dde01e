// Races that an earlier derivation of a private stage has seen.
#pragma once

#include <cstdint>
#include <vector>

#include "words.hpp"

namespace autofinity::sim {

struct KnownRaces {
    std::vector<std::uint32_t> pages;  // in which threads raced so often that their prefetches are
                                       // left to the replay
    std::vector<Line> lines;           // that threads raced for

    bool empty() const { return pages.empty() && lines.empty(); }
};

}  // namespace autofinity::sim
