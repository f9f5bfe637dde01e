// The part of `autofinity._core.sim` that describes machines.
#pragma once

#include <nanobind/nanobind.h>

namespace autofinity::sim {

void bind_machine(nanobind::module_& module);

}  // namespace autofinity::sim
