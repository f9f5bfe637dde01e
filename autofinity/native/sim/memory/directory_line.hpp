// What the directory knows of a line.
#pragma once

#include <cstdint>

namespace autofinity::sim {

// The sharers are L2 domains in use that have the line in an L1 or L2, the owner too; `Sharers`
// knows those beyond the first 64.
struct DirectoryLine {
    std::uint64_t first_sharers;
    std::uint32_t llcs;               // domains whose LLC has it
    std::uint16_t owner_plus_one;     // L2 domain that has it M, E or O; 0: none
    std::uint8_t dirty_llc_plus_one;  // LLC that must write it back; 0: none
};
static_assert(sizeof(DirectoryLine) == 16);

}  // namespace autofinity::sim
