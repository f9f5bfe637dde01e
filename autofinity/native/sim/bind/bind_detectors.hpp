// The part of `autofinity._core.sim` that is about detectors.
#pragma once

#include <nanobind/nanobind.h>

#include "sim/replay/simulation.hpp"

namespace autofinity::sim {

void bind_detectors(nanobind::module_& module);
void bind_detected(nanobind::class_<Simulation>& simulation);

}  // namespace autofinity::sim
