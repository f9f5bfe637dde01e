// Python face of detectors and of their findings. autofinity/model/detection.py has checked their
// numbers.
#include "bind_detectors.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <map>

#include "sim/error.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace autofinity::sim {
namespace {

std::uint32_t most_of(std::uint32_t bits) {
    return bits >= 32 ? std::numeric_limits<std::uint32_t>::max() : (1u << bits) - 1;
}

Detection& detection_of(Simulation& simulation) {
    if (simulation.detection() == nullptr)
        throw SimulationError("nothing is detected in this replay; start it with detectors");
    return *simulation.detection();
}

std::uint64_t ns_of(const MachineModel& machine, Ticks ticks) {
    return static_cast<std::uint64_t>(
        std::llround(static_cast<double>(ticks) / (machine.ghz * ticks_per_clock)));
}

FaultSampling::Table table_of(const std::string& name) {
    if (name == "blocks") return FaultSampling::Table::blocks;
    return name == "sub-blocks" ? FaultSampling::Table::sub_blocks : FaultSampling::Table::none;
}

TlbMatching::Trigger trigger_of(const std::string& name) {
    if (name == "time") return TlbMatching::Trigger::time;
    if (name == "global misses") return TlbMatching::Trigger::global_misses;
    return name == "shared pages" ? TlbMatching::Trigger::shared_pages
                                  : TlbMatching::Trigger::local_misses;
}

}  // namespace

void bind_detectors(nb::module_& module) {
    nb::class_<FaultSampling>(module, "FaultSampling", "Induced page faults.")
        .def(
            "__init__",
            [](FaultSampling* self, double share_per_s, double round_ns, const std::string& table,
               std::uint32_t block_bytes, std::uint32_t entries, std::uint32_t sharers,
               std::uint32_t counter_bits, bool halve_on_move, double fault_ns, double update_ns) {
                new (self) FaultSampling{.share_per_s = share_per_s,
                                         .round_ns = round_ns,
                                         .table = table_of(table),
                                         .block_bytes = block_bytes,
                                         .entries = entries,
                                         .sharers = sharers,
                                         .most_counted = most_of(counter_bits),
                                         .halve_on_move = halve_on_move,
                                         .fault_ns = fault_ns,
                                         .update_ns = update_ns};
            },
            nb::kw_only(), "share_per_s"_a, "round_ns"_a, "table"_a, "block_bytes"_a, "entries"_a,
            "sharers"_a, "counter_bits"_a, "halve_on_move"_a, "fault_ns"_a, "update_ns"_a);
    nb::class_<HintingFaults>(module, "HintingFaults", "Faults of NUMA balancing.")
        .def(
            "__init__",
            [](HintingFaults* self, double scan_period_ns, std::uint64_t scan_bytes,
               double fault_ns) { new (self) HintingFaults{scan_period_ns, scan_bytes, fault_ns}; },
            nb::kw_only(), "scan_period_ns"_a, "scan_bytes"_a, "fault_ns"_a);
    nb::class_<TlbAccessCounters>(module, "TlbAccessCounters", "Accesses counted in the TLB.")
        .def(
            "__init__",
            [](TlbAccessCounters* self, const std::string& held_in,
               std::uint32_t access_counter_bits, std::uint32_t sharers,
               std::uint32_t numa_counter_bits, std::uint32_t v_add, std::uint32_t numa_threshold) {
                new (self) TlbAccessCounters{.in_page_table = held_in == "page table",
                                             .most_accesses = most_of(access_counter_bits),
                                             .sharers = sharers,
                                             .most_counted = most_of(numa_counter_bits),
                                             .v_add = v_add,
                                             .numa_threshold = numa_threshold};
            },
            nb::kw_only(), "held_in"_a, "access_counter_bits"_a, "sharers"_a, "numa_counter_bits"_a,
            "v_add"_a, "numa_threshold"_a);
    nb::class_<TlbMatching>(module, "TlbMatching", "Equal entries of several TLBs.")
        .def(
            "__init__",
            [](TlbMatching* self, const std::string& trigger, double period_ns,
               std::optional<std::uint64_t> misses, double misses_scale, double most_share,
               double entry_cycles, double compare_cycles) {
                new (self) TlbMatching{.trigger = trigger_of(trigger),
                                       .period_ns = period_ns,
                                       .misses = misses,
                                       .misses_scale = misses_scale,
                                       .most_share = most_share,
                                       .entry_cycles = entry_cycles,
                                       .compare_cycles = compare_cycles};
            },
            nb::kw_only(), "trigger"_a, "period_ns"_a, "misses"_a.none(), "misses_scale"_a,
            "most_share"_a, "entry_cycles"_a, "compare_cycles"_a);
    nb::class_<RemoteAccesses>(module, "RemoteAccesses", "Accesses that other caches resolved.")
        .def(
            "__init__",
            [](RemoteAccesses* self, std::uint64_t period, std::uint32_t block_bytes,
               std::uint32_t entries, std::uint32_t sharers, double sample_ns) {
                new (self) RemoteAccesses{period, block_bytes, entries, sharers, sample_ns};
            },
            nb::kw_only(), "period"_a, "block_bytes"_a, "entries"_a, "sharers"_a, "sample_ns"_a);
    nb::class_<AccessSampling>(module, "AccessSampling", "Sampled accesses.")
        .def(
            "__init__",
            [](AccessSampling* self, const std::string& what, std::uint64_t period,
               double least_latency_ns, std::uint64_t pages, double sample_ns) {
                new (self) AccessSampling{.long_loads = what != "accesses",
                                          .period = period,
                                          .least_latency_ns = least_latency_ns,
                                          .pages = pages,
                                          .sample_ns = sample_ns};
            },
            nb::kw_only(), "what"_a, "period"_a, "least_latency_ns"_a, "pages"_a, "sample_ns"_a);
}

void bind_detected(nb::class_<Simulation>& simulation) {
    simulation
        .def(
            "take_sharing",
            [](Simulation& self) {
                Detection& detection = detection_of(self);
                const std::vector<std::uint64_t> cells = detection.take_sharing();
                std::vector<std::vector<std::uint64_t>> rows(detection.threads());
                for (std::size_t row = 0; row < rows.size(); ++row)
                    rows[row].assign(cells.begin() + row * rows.size(),
                                     cells.begin() + (row + 1) * rows.size());
                return rows;
            },
            "Sharing seen since the last call, thread by thread.")
        .def(
            "take_pages",
            [](Simulation& self) {
                std::vector<std::tuple<std::uint64_t, std::uint32_t, std::vector<std::uint32_t>>>
                    found;
                for (PageVector& one : detection_of(self).take_pages())
                    found.emplace_back(self.virtual_page(one.page), self.node_of(one.page),
                                       std::move(one.counts));
                return found;
            },
            "Pages that were seen since the last call: (process << 36 | page, node, counts).")
        .def(
            "take_triggers", [](Simulation& self) { return detection_of(self).take_triggers(); },
            "How often detectors were set off since the last call.")
        .def(
            "take_unit_accesses",
            [](Simulation& self) { return detection_of(self).take_unit_accesses(); },
            "Accesses to memory of the memory management units' own since the last call.")
        .def(
            "take_overhead_ns",
            [](Simulation& self) {
                std::map<std::string, std::uint64_t> found;
                const OverheadTicks overhead = self.take_overhead();
                for (std::size_t kind = 0; kind < overhead_names.size(); ++kind)
                    if (overhead.all()[kind] != 0)
                        found.emplace(overhead_names[kind],
                                      ns_of(self.machine(), overhead.all()[kind]));
                return found;
            },
            "Time that cores have lost since the last call, by kind.")
        .def(
            "spend",
            [](Simulation& self, std::uint32_t stream, double ns) {
                if (stream >= self.program().streams.size())
                    throw SimulationError("no stream " + std::to_string(stream));
                if (!(ns >= 0 && ns < 1e15))
                    throw SimulationError("a mechanism cannot spend " + std::to_string(ns) + " ns");
                self.spend(stream, static_cast<Ticks>(
                                       std::llround(ns * self.machine().ghz * ticks_per_clock)));
            },
            "stream"_a, "ns"_a, "Somebody else works on the stream's core for so long.");
}

}  // namespace autofinity::sim
