// Machines of a few lines and pages, so that short programs evict; the bits of `variant` choose
// their parts.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/machine.hpp"

namespace autofinity::fuzz {

// Two packages with one LLC each and a link each way, two cores to an LLC, the second one with two
// PUs; the last core is a slow one. The first two share their L2 if it is inclusive.
std::shared_ptr<const sim::MachineModel> small_machine(std::uint8_t variant);

}  // namespace autofinity::fuzz
