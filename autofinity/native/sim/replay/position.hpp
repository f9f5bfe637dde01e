// Position of a stream among steps: its own, or those of a work unit that it carries out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/program/step.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

// Steps of a unit with the lines of the stream that carries out the unit.
using MovedSteps = std::shared_ptr<const std::vector<Step>>;

struct Position {
    const Step* at = nullptr;
    const Step* begin = nullptr;  // of the array that `at` points into
    MovedSteps moved;             // this array, where a unit of another stream needs its own
    std::uint32_t begin_at = 0;   // place of *begin among the steps of `source`
    std::uint32_t source = 0;     // stream whose steps these are (work units move)

    // Place among the steps of the source, which is the number of its event.
    std::ptrdiff_t place() const { return at - begin + begin_at; }
    void go_to(std::size_t place) { at = begin + (place - begin_at); }
};

// A suspended position of a stream.
struct Frame {
    Position position;
    Until until;
    std::uint32_t object;      // token or barrier
    std::uint32_t generation;  // of the barrier
    std::uint32_t instance;
    bool repeat;  // own code: only when no unit of the instance is left
};

// The nested work units of a stream.
struct NestedUnits {
    std::vector<Frame> frames;        // suspended positions
    std::uint32_t resumable = 0;      // of these, whose token or barrier has come
    std::uint32_t instance = nobody;  // of the chunk under way or last seen
};

}  // namespace autofinity::sim
