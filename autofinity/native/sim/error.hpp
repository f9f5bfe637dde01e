// The one exception of the room; Python sees it as autofinity.model.errors.SimulationError.
#pragma once

#include <stdexcept>

namespace autofinity::sim {

struct SimulationError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace autofinity::sim
