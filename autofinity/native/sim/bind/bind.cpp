// Python face of the simulator: `autofinity._core.sim`. Times are nanoseconds here, ticks inside.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "bind_detectors.hpp"
#include "bind_machine.hpp"
#include "sim/error.hpp"
#include "sim/program/skeleton_program.hpp"
#include "sim/program/whole_trace.hpp"
#include "sim/program/window_program.hpp"
#include "sim/replay/simulation.hpp"

namespace nb = nanobind;
using namespace autofinity::sim;

namespace {

double ticks_per_ns(const MachineModel& machine) { return machine.ghz * ticks_per_clock; }

Ticks to_ticks(const MachineModel& machine, double ns) {
    const double ticks = ns * ticks_per_ns(machine);
    if (!(ticks >= 0)) throw SimulationError("a duration must not be negative");
    return ticks >= static_cast<double>(forever) ? forever
                                                 : static_cast<Ticks>(std::llround(ticks));
}

std::uint64_t to_ns(const MachineModel& machine, Ticks ticks) {
    return static_cast<std::uint64_t>(
        std::llround(static_cast<double>(ticks) / ticks_per_ns(machine)));
}

template <typename T, std::size_t N>
nb::ndarray<nb::numpy, T> array_of(std::vector<T>&& values,
                                   const std::array<std::size_t, N>& shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), N, shape.data(), owner);
}

template <std::size_t N>
using Prices = nb::ndarray<const double, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

}  // namespace

void bind_sim(nb::module_& module) {
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const SimulationError& error) {
            nb::object type =
                nb::module_::import_("autofinity.model.errors").attr("SimulationError");
            PyErr_SetString(type.ptr(), error.what());
        }
    });

    module.attr("TICKS_PER_CLOCK") = ticks_per_clock;
    // The level that this library was compiled for (CMakeLists.txt at the top).
#if defined(__AVX512F__)
    module.attr("INSTRUCTION_SET") = "x86-64-v4";
#else
    module.attr("INSTRUCTION_SET") = "any";
#endif
    module.def(
        "event_names",
        [] { return std::vector<std::string>(counter_names.begin(), counter_names.end()); },
        "Names of the counters, in the order of the arrays.");

    bind_machine(module);
    nb::class_<Program>(module, "Program",
                        "A trace made ready for replay once, for any number of simulations.")
        .def(
            "__init__",
            [](Program* self, std::shared_ptr<autofinity::trace::Trace> trace) {
                nb::gil_scoped_release release;
                new (self) Program(std::move(trace));
            },
            nb::arg("trace"))
        .def(
            "__init__",
            [](Program* self,
               const std::vector<std::shared_ptr<autofinity::trace::Trace>>& traces) {
                nb::gil_scoped_release release;
                new (self)
                    Program(std::vector<autofinity::trace::TracePtr>{traces.begin(), traces.end()});
            },
            nb::arg("traces"), "Several processes.")
        .def_static(
            "read",
            [](const std::filesystem::path& directory) {
                return Program(std::move(*autofinity::trace::read_trace(directory.string())));
            },
            nb::arg("directory"), nb::call_guard<nb::gil_scoped_release>(),
            "A trace directory, with less memory than by way of a `Trace`. Raises TraceError "
            "naming "
            "file and offset.")
        .def_static(
            "read_window",
            [](const autofinity::trace::SampledTrace& sampled, std::size_t window) {
                if (window >= sampled.windows.size()) throw nb::index_error("no such window");
                return window_program(sampled, window);
            },
            nb::arg("sampled"), nb::arg("window"), nb::call_guard<nb::gil_scoped_release>(),
            "One window of a sampled trace. Raises TraceError naming file and offset.")
        .def_static(
            "window",
            [](const autofinity::trace::Trace& recorded,
               const std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>>& pages,
               const std::vector<std::vector<
                   std::tuple<std::uint64_t, std::uint32_t, bool, std::uint64_t>>>& warm,
               const std::vector<bool>& waits) {
                autofinity::trace::WindowEvents window;
                std::vector<autofinity::trace::PageRun> runs;
                for (const auto& [first, n, stream] : pages) runs.push_back({first, n, stream});
                for (const auto& lines : warm) {
                    auto& of = window.warm.emplace_back();
                    for (const auto& [first, n, written, stamp] : lines)
                        of.push_back({first, n, written, stamp});
                }
                window.events = recorded;
                return window_program(std::move(window), std::move(runs), waits);
            },
            nb::arg("recorded"), nb::arg("pages"), nb::arg("warm"), nb::arg("waits"),
            nb::call_guard<nb::gil_scoped_release>(),
            "A window of a run, from what was recorded of it: events; pages (first, pages, stream) "
            "in order of first touch; of each stream the lines it touched last (first, lines, "
            "written, stamp), newest first, and whether it waits when the window ends.")
        .def_static(
            "skeleton",
            [](const autofinity::trace::Trace& skeleton, std::uint64_t interval_work,
               const Prices<2>& own, const Prices<1>& units) {
                const InstructionPrices prices{interval_work,
                                               own.shape(1),
                                               {own.data(), own.size()},
                                               {units.data(), units.size()}};
                nb::gil_scoped_release release;
                return skeleton_program(skeleton, prices);
            },
            nb::arg("skeleton"), nb::arg("interval_work"), nb::arg("own"), nb::arg("units"),
            "The skeleton of a sampled trace, timed: of each interval of so much work, how many "
            "times what it takes where no access waits an instruction takes, of each stream "
            "[intervals, streams] and within work units [intervals]. Raises SimulationError.")
        .def_prop_ro("processes",
                     [](const Program& p) {
                         std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
                         for (const Process& each : p.processes)
                             all.emplace_back(each.first_stream, each.streams);
                         return all;
                     })
        .def_prop_ro("streams", [](const Program& p) { return p.streams.size(); })
        .def_prop_ro("events", [](const Program& p) { return p.events; })
        .def_prop_ro("accesses", [](const Program& p) { return p.accesses; })
        .def_prop_ro("size_bytes",
                     [](const Program& p) {
                         std::size_t sum = p.virtual_page.size() * sizeof(std::uint64_t);
                         for (const auto& stream : p.streams)
                             sum += stream.steps.size() * sizeof(Step);
                         if (p.beginning)
                             sum += p.beginning->lines.size() * sizeof(WarmLine) +
                                    p.beginning->pages.size() * sizeof(FirstTouch);
                         return sum;
                     })
        .def_prop_ro("has_roi", &Program::has_roi)
        .def_prop_ro("instructions", [](const Program& p) {
            std::vector<std::uint64_t> all;
            for (const auto& stream : p.streams) all.push_back(stream.instructions);
            return all;
        });

    module.def(
        "whole_trace",
        [](const Program& program, const std::vector<std::uint32_t>& threads,
           std::uint32_t page_bytes) {
            WholeTrace found;
            {
                nb::gil_scoped_release release;
                found = whole_trace(program, threads, page_bytes);
            }
            const std::size_t n = threads.size(), pages = found.pages.size();
            return nb::make_tuple(
                array_of<std::uint64_t, 2>(std::move(found.sharing), {n, n}),
                array_of<std::uint64_t, 1>(std::move(found.pages), {pages}),
                array_of<std::uint64_t, 2>(std::move(found.accesses), {pages, n}));
        },
        nb::arg("program"), nb::arg("threads"), nb::arg("page_bytes") = 4096,
        "Facts of these streams, in the regions of interest: sharing of lines (uint64 [threads, "
        "threads]), page numbers (process << 36 | page), accesses (uint64 [pages, threads]).");

    bind_detectors(module);
    nb::class_<Simulation> simulation(module, "Simulation",
                                      "One replay of a program on a machine.");
    bind_detected(simulation);
    simulation
        .def(
            "__init__",
            [](Simulation* self, std::shared_ptr<MachineModel> machine,
               std::shared_ptr<Program> program, std::vector<std::uint32_t> pus,
               double sample_period_ns, std::uint64_t seed, const std::string& policy,
               std::uint32_t node, std::unordered_map<std::uint64_t, std::uint32_t> table,
               const std::vector<std::pair<double, bool>>& starts, bool restart,
               std::vector<std::vector<std::uint32_t>> os_pus, std::uint32_t repeats,
               std::vector<Detector> detectors, std::vector<std::uint32_t> threads) {
                validate(*machine);
                Options options;
                options.pu_of_stream = std::move(pus);
                options.sample_period = to_ticks(*machine, sample_period_ns);
                options.seed = seed;
                for (const auto& [at_ns, after] : starts)
                    options.starts.push_back({to_ticks(*machine, at_ns), after});
                options.restart = restart;
                options.os_pus = std::move(os_pus);
                options.detectors = std::move(detectors);
                options.threads = std::move(threads);
                options.repeats = repeats;
                if (policy == "interleave")
                    options.pages.policy = PagePolicy::interleave;
                else if (policy == "bind")
                    options.pages.policy = PagePolicy::bind;
                else if (policy != "first_touch")
                    throw SimulationError("unknown page policy '" + policy +
                                          "'; there are first_touch, interleave and bind");
                if (options.pages.policy == PagePolicy::bind &&
                    (node >= machine->topology.nodes() || machine->home_of_node[node] != node))
                    throw SimulationError("no node " + std::to_string(node) +
                                          " with memory to bind pages to");
                for (const auto& [page, at] : table)
                    if (at >= machine->topology.nodes() || machine->home_of_node[at] != at)
                        throw SimulationError("no node " + std::to_string(at) +
                                              " with memory for page " + std::to_string(page));
                options.pages.node = node;
                options.pages.table = std::move(table);
                nb::gil_scoped_release release;
                new (self) Simulation(std::move(machine), std::move(program), std::move(options));
            },
            nb::arg("machine"), nb::arg("program"), nb::arg("pus"), nb::kw_only(),
            nb::arg("sample_period_ns") = 0.0, nb::arg("seed") = 0,
            nb::arg("page_policy") = "first_touch", nb::arg("node") = 0,
            nb::arg("page_table") = std::unordered_map<std::uint64_t, std::uint32_t>{},
            nb::arg("starts") = std::vector<std::pair<double, bool>>{}, nb::arg("restart") = false,
            nb::arg("os_pus") = std::vector<std::vector<std::uint32_t>>{}, nb::arg("repeats") = 1,
            nb::arg("detectors") = std::vector<Detector>{},
            nb::arg("threads") = std::vector<std::uint32_t>{})
        .def(
            "advance",
            [](Simulation& self, double ns) {
                const Ticks ticks = to_ticks(self.machine(), ns);
                nb::gil_scoped_release release;
                return self.advance(ticks);
            },
            nb::arg("ns"), "Runs on for `ns` of simulated time; True when the region has ended.")
        .def("run", &Simulation::run, nb::call_guard<nb::gil_scoped_release>(),
             "Runs to the end of the region of interest.")
        .def(
            "run_window",
            [](Simulation& self, double lead) {
                MeasuredWindow measured;
                {
                    nb::gil_scoped_release release;
                    measured = self.run_window(lead);
                }
                const auto ns = [&](const std::vector<Ticks>& ticks) {
                    std::vector<double> all;
                    for (const Ticks each : ticks)
                        all.push_back(static_cast<double>(each) / ticks_per_ns(self.machine()));
                    const std::size_t n = all.size();
                    return array_of<double, 1>(std::move(all), {n});
                };
                return nb::make_tuple(
                    static_cast<double>(measured.duration) / ticks_per_ns(self.machine()),
                    measured.barriers, ns(measured.at_barriers), ns(measured.after_end));
            },
            nb::arg("lead") = 0.12,
            "Runs a window, of whose instructions a share, the lead, is not measured. Returns time "
            "in ns, barriers passed, and of each stream the ns it waited at barriers, and after "
            "its last event. `totals` and `samples` are of what was measured.")
        .def_prop_ro("ended", &Simulation::ended)
        .def_prop_ro("progress", &Simulation::progress)
        .def_prop_ro("elapsed_ns",
                     [](const Simulation& s) { return to_ns(s.machine(), s.elapsed()); })
        .def_prop_ro("elapsed_clocks",
                     [](const Simulation& s) { return s.elapsed() / ticks_per_clock; })
        .def(
            "totals",
            [](const Simulation& self) {
                const auto totals = self.totals();
                std::vector<std::uint64_t> flat;
                for (const Counts& n : totals)
                    flat.insert(flat.end(), n.begin(), n.begin() + n_counters);
                return array_of<std::uint64_t, 2>(std::move(flat), {totals.size(), n_counters});
            },
            "Counts since the region began: uint64 [streams, events].")
        .def(
            "reads_by_node",
            [](const Simulation& self) {
                const auto totals = self.totals();
                const std::size_t nodes =
                    std::min<std::size_t>(self.machine().topology.nodes(), counted_homes);
                std::vector<std::uint64_t> flat;
                for (const Counts& n : totals)
                    flat.insert(flat.end(), n.begin() + n_counters,
                                n.begin() + static_cast<std::ptrdiff_t>(n_counters + nodes));
                return array_of<std::uint64_t, 2>(std::move(flat), {totals.size(), nodes});
            },
            "Lines read from the memory of each node since the region began: uint64 [streams, "
            "nodes], of the first 32 nodes.")
        .def(
            "samples",
            [](const Simulation& self) {
                const auto& samples = self.samples();
                std::vector<std::uint64_t> flat, times;
                std::vector<double> progress;
                for (const Sample& sample : samples) {
                    for (const Counts& n : sample.counts)
                        flat.insert(flat.end(), n.begin(), n.begin() + n_counters);
                    times.push_back(to_ns(self.machine(), sample.start));
                    times.push_back(to_ns(self.machine(), sample.end));
                    progress.push_back(sample.progress);
                }
                const std::size_t streams = self.program().streams.size();
                return nb::make_tuple(
                    array_of<std::uint64_t, 3>(std::move(flat),
                                               {samples.size(), streams, n_counters}),
                    array_of<std::uint64_t, 2>(std::move(times), {samples.size(), 2}),
                    array_of<double, 1>(std::move(progress), {samples.size()}));
            },
            "Samples so far: counts uint64 [samples, streams, events], times_ns [samples, 2] since "
            "the region began, progress [samples] at the end of each.")
        .def("bind", &Simulation::bind, nb::arg("stream"), nb::arg("pu"), nb::arg("stay") = false)
        .def("confine", &Simulation::confine, nb::arg("stream"), nb::arg("pus"),
             "The operating system moves the stream among these PUs only, from now on.")
        .def_prop_ro(
            "runnable",
            [](const Simulation& self) {
                std::vector<std::uint32_t> found;
                for (std::uint32_t i = 0; i < self.program().streams.size(); ++i)
                    if (self.runnable(i)) found.push_back(i);
                return found;
            },
            "Streams that run, or wait for nothing but a PU, now.")
        .def("pu_of", &Simulation::pu_of, nb::arg("stream"))
        .def(
            "move_page",
            [](Simulation& self, std::uint64_t page, std::uint32_t node, std::uint32_t process) {
                return to_ns(self.machine(), self.move_page(process, page, node));
            },
            nb::arg("page"), nb::arg("node"), nb::arg("process") = 0,
            "Moves a page, and the rest of a larger unit with it; returns the nanoseconds it takes "
            "who "
            "moves it. Cores that had its translation are interrupted.")
        .def(
            "node_of_page",
            [](const Simulation& self, std::uint64_t page, std::uint32_t process) {
                return self.node_of_page(process, page);
            },
            nb::arg("page"), nb::arg("process") = 0,
            "Node of a virtual page number, or -1 while it is untouched.")
        .def(
            "touched_pages",
            [](const Simulation& self) {
                std::vector<std::uint64_t> pages, nodes;
                for (const auto& [page, node] : self.touched_pages()) {
                    pages.push_back(page);
                    nodes.push_back(node);
                }
                const std::size_t count = pages.size();
                return nb::make_tuple(array_of<std::uint64_t, 1>(std::move(pages), {count}),
                                      array_of<std::uint64_t, 1>(std::move(nodes), {count}));
            },
            "For each touched page, its number (process << 36 | page, larger ones by their "
            "first 4 KiB) and its node: two uint64 [pages].")
        .def_prop_ro("process_times_ns",
                     [](const Simulation& self) {
                         std::vector<std::tuple<std::uint64_t, std::uint64_t, bool>> all;
                         for (std::uint32_t i = 0; i < self.program().processes.size(); ++i) {
                             const auto times = self.times_of(i);
                             all.emplace_back(to_ns(self.machine(), times.begin),
                                              to_ns(self.machine(), times.end), times.ended);
                         }
                         return all;
                     })
        .def_prop_ro("positions",
                     [](const Simulation& s) {
                         std::vector<std::uint64_t> all;
                         for (std::uint32_t i = 0; i < s.program().streams.size(); ++i)
                             all.push_back(s.position_of(i));
                         return all;
                     })
        .def(
            "contents",
            [](const Simulation& self, const std::string& cache, std::uint32_t number) {
                const auto& topology = self.machine().topology;
                if (number >= (cache == "llc" ? topology.llcs() : topology.cores()))
                    throw SimulationError("the machine has no " + cache + " " +
                                          std::to_string(number));
                const Memory& memory = self.memory();
                std::vector<Word> words;
                if (cache == "l1")
                    words = memory.l1_contents(number);
                else if (cache == "l2")
                    words = memory.l2_contents(number);
                else if (cache == "llc")
                    words = memory.llc_contents(number);
                else
                    throw SimulationError("no cache '" + cache + "'; there are l1, l2 and llc");
                std::vector<std::uint64_t> lines;
                std::vector<std::uint8_t> states;
                for (const Word word : words) {
                    const Line line = line_of(word);
                    const std::uint64_t page = self.virtual_page(line >> page_shift);
                    if (page == 0) continue;  // one of the simulator's own pages
                    lines.push_back(page << page_shift | (line & (lines_per_page - 1)));
                    states.push_back(static_cast<std::uint8_t>(state_of(word)));
                }
                const std::size_t n = lines.size();
                return nb::make_tuple(array_of<std::uint64_t, 1>(std::move(lines), {n}),
                                      array_of<std::uint8_t, 1>(std::move(states), {n}));
            },
            nb::arg("cache"), nb::arg("number"),
            "Lines (addresses >> 6) that the l1 or l2 of a core or an llc has, and their states: "
            "1 S, 2 E, 3 O, 4 M. For tests.")
        .def("check", &Simulation::check, "Raises SimulationError when an invariant is broken.");
}
