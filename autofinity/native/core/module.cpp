// The extension `autofinity._core`: one submodule per room, each bound in its own bind.cpp.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_trace(nb::module_& module);
void bind_topology(nb::module_& module);
void bind_affinity(nb::module_& module);
void bind_detect(nb::module_& module);
void bind_sim(nb::module_& module);
void bind_measure(nb::module_& module);
void bind_learning(nb::module_& module);
void bind_mapping(nb::module_& module);

NB_MODULE(_core, module) {
    module.doc() = "Native core of autofinity.";
    const auto room = [&](const char* name, const char* doc, void (*bind)(nb::module_&)) {
        nb::module_ made = module.def_submodule(name, doc);
        bind(made);
    };
    room("trace", "Captured programs in memory.", bind_trace);
    room("topology", "The machine that threads are placed on.", bind_topology);
    room("affinity", "GETAFFINITY by direct construction.", bind_affinity);
    room("detect", "Tables of who shares with whom.", bind_detect);
    room("sim", "The simulated machine.", bind_sim);
    room("measure", "Latencies and bandwidths of this machine.", bind_measure);
    room("learning", "Rules from rows (RIPPER).", bind_learning);
    room("mapping", "Who sits where, from who shares with whom.", bind_mapping);
}
