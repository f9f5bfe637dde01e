// The extension `autofinity._core`: one submodule per room, each bound in its own bind.cpp.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

#ifdef AUTOFINITY_WITH_TRACE
void bind_trace(nb::module_& module);
#endif
#ifdef AUTOFINITY_WITH_AFFINITY
void bind_affinity(nb::module_& module);
#endif
#ifdef AUTOFINITY_WITH_DETECT
void bind_detect(nb::module_& module);
#endif
#ifdef AUTOFINITY_WITH_SIM
void bind_sim(nb::module_& module);
#endif
#ifdef AUTOFINITY_WITH_MEASURE
void bind_measure(nb::module_& module);
#endif
#ifdef AUTOFINITY_WITH_LEARNING
void bind_learning(nb::module_& module);
#endif
#ifdef AUTOFINITY_WITH_MAPPING
void bind_mapping(nb::module_& module);
#endif

NB_MODULE(_core, module) {
    module.doc() = "Native core of autofinity.";
#ifdef AUTOFINITY_WITH_TRACE
    auto trace = module.def_submodule("trace", "Captured programs in memory.");
    bind_trace(trace);
#endif
#ifdef AUTOFINITY_WITH_AFFINITY
    auto affinity = module.def_submodule("affinity", "GETAFFINITY by direct construction.");
    bind_affinity(affinity);
#endif
#ifdef AUTOFINITY_WITH_DETECT
    auto detect = module.def_submodule("detect", "Tables of who shares with whom.");
    bind_detect(detect);
#endif
#ifdef AUTOFINITY_WITH_SIM
    auto sim = module.def_submodule("sim", "The simulated machine.");
    bind_sim(sim);
#endif
#ifdef AUTOFINITY_WITH_MEASURE
    auto measure = module.def_submodule("measure", "Latencies and bandwidths of this machine.");
    bind_measure(measure);
#endif
#ifdef AUTOFINITY_WITH_LEARNING
    auto learning = module.def_submodule("learning", "Rules from rows (RIPPER).");
    bind_learning(learning);
#endif
#ifdef AUTOFINITY_WITH_MAPPING
    auto mapping = module.def_submodule("mapping", "Who sits where, from who shares with whom.");
    bind_mapping(mapping);
#endif
}
