// The skeleton of a sampled run as a program: who waits for whom, and which work anybody may do.
// What lies between takes as long as it is said to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "program.hpp"

namespace autofinity::sim {

// How long an instruction takes, as a multiple of what it takes where no access waits: in each
// interval of the region's work, of each stream for itself and within work units, which any stream
// may take.
struct InstructionPrices {
    std::uint64_t interval_work;
    std::size_t streams;
    std::span<const double> own;    // [intervals, streams]
    std::span<const double> units;  // [intervals]
};

// Throws SimulationError as Program does,
// and for prices that are not of this skeleton, or not from 0 to a million.
Program skeleton_program(const trace::Trace& skeleton, const InstructionPrices& prices);

}  // namespace autofinity::sim
