// A small program and its private stage.
//
// An input of the stage target is a byte that chooses machine and seed, and the bytes of a stage.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/program.hpp"

namespace autofinity::fuzz {

// Three threads that share lines, a lock and a barrier.
sim::ProgramPtr small_program();

// PU of each of its threads, on cores of their own.
std::vector<std::uint32_t> pus_of_program();

// The input whose stage is what the replay derives.
std::vector<std::uint8_t> valid_stage(std::uint8_t variant);

}  // namespace autofinity::fuzz
