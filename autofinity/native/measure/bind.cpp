// Python face of the measurements: `autofinity._core.measure`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <tuple>

#include "measure/measure.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace nb = nanobind;
using namespace nb::literals;
using namespace autofinity::measure;

namespace {

using Registers = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

// EAX, EBX, ECX and EDX of a leaf of the CPU this runs on; none on other processors than x86.
std::optional<Registers> cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
#if defined(__x86_64__) || defined(__i386__)
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(leaf, subleaf, &a, &b, &c, &d) != 0) return Registers{a, b, c, d};
#else
    (void)leaf;
    (void)subleaf;
#endif
    return std::nullopt;
}

std::optional<Registers> cpuid_of(int cpu, std::uint32_t leaf, std::uint32_t subleaf) {
    std::optional<Registers> found;
    on_cpu(cpu, [&] { found = cpuid(leaf, subleaf); });
    return found;
}

}  // namespace

void bind_measure(nb::module_& module) {
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const PlaceError& error) {
            PyErr_SetString(PyExc_OSError, error.what());
        }
    });
    const auto release = nb::call_guard<nb::gil_scoped_release>();
    module.attr("MOST_CHAINS") = most_chains;
    module.def(
        "chase_ns",
        [](int cpu, std::size_t lines, std::size_t stride, int node, bool large, int chains,
           int rounds) {
            const Chase chase{lines, stride, node, large ? Pages::large : Pages::small, chains};
            return chase_ns(cpu, chase, rounds);
        },
        "cpu"_a, "lines"_a, nb::kw_only(), "stride_bytes"_a = line_bytes, "node"_a = any_node,
        "large_pages"_a = true, "chains"_a = 1, "rounds"_a = 5, release,
        "Nanoseconds a load of a random pointer chase, one value a round.");
    module.def("clock_ghz", &clock_ghz, "cpu"_a, "rounds"_a = 5, release);
    module.def("atomic_ns", &atomic_ns, "cpu"_a, "rounds"_a = 5, release);
    module.def("page_fault_ns", &page_fault_ns, "cpu"_a, "rounds"_a = 5, release);
    module.def("handover_ns", &handover_ns, "cpu"_a, "other_cpu"_a, "rounds"_a = 5, release,
               "Nanoseconds from core to core; no values when they never ran at the same time.");
    module.def("switch_ns", &switch_ns, "cpu"_a, "rounds"_a = 5, release,
               "Nanoseconds from thread to thread of one CPU by sched_yield.");
    module.def("wake_and_switch_ns", &wake_and_switch_ns, "cpu"_a, "rounds"_a = 5, release,
               "Nanoseconds from thread to thread of one CPU through a pipe.");
    module.def("move_ns", &move_ns, "cpu"_a, "other_cpu"_a, "rounds"_a = 5, release,
               "Nanoseconds of moving the calling thread to another CPU.");
    module.def("read_gbs", &read_gbs, "cpus"_a, "node"_a, "bytes_each"_a, "rounds"_a = 3, release);
    module.def("cpuid", &cpuid_of, "cpu"_a, "leaf"_a, "subleaf"_a = 0, release,
               "EAX, EBX, ECX, EDX; None where there is no such leaf or no such instruction.");
}
