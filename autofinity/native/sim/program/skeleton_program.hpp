// The skeleton of a sampled run as a program: the waits between threads, and the work that any
// thread may do. Instructions in between have given prices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "program.hpp"

namespace autofinity::sim {

// Time of an instruction, as a multiple of its time where no access waits: in each interval of the
// region's work, for each stream by itself and within work units, which any stream may take.
struct InstructionPrices {
    std::uint64_t interval_work;
    std::size_t streams;
    std::span<const double> own;    // [intervals, streams]
    std::span<const double> units;  // [intervals]
};

// Throws SimulationError as Program does, and for prices that do not belong to this skeleton, or
// are not from 0 to a million.
Program skeleton_program(const trace::Trace& skeleton, const InstructionPrices& prices);

}  // namespace autofinity::sim
