// Python face of sampled traces: `autofinity._core.trace.read_sampled`.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "trace/sampled.hpp"

namespace nb = nanobind;
using namespace autofinity::trace;

namespace {

// An array of `rows`, or of `rows` by `columns` where there are any, that owns its numbers.
template <typename T>
nb::object array_of(std::vector<T> numbers, std::size_t rows, std::size_t columns = SIZE_MAX) {
    auto* holder = new std::vector<T>(std::move(numbers));
    nb::capsule owner(holder, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    const std::size_t shape[2] = {rows, columns};
    const std::size_t dimensions = columns == SIZE_MAX ? 1 : 2;
    return nb::cast(nb::ndarray<nb::numpy, T>(holder->data(), dimensions, shape, owner));
}

template <typename T, typename Items, typename Of>
nb::object column(const Items& items, Of of) {
    std::vector<T> numbers;
    for (const auto& item : items) numbers.push_back(static_cast<T>(of(item)));
    return array_of(std::move(numbers), items.size());
}

template <typename T, typename Of>
nb::object by_stream(const SampledTrace& trace, Of of) {
    std::vector<T> numbers;
    for (const Window& window : trace.windows)
        for (const WindowStream& stream : window.streams) numbers.push_back(of(stream));
    return array_of(std::move(numbers), trace.windows.size(), trace.parents.size());
}

nb::dict windows_of(const SampledTrace& trace) {
    const auto each = [&](auto of) { return column<std::uint64_t>(trace.windows, of); };
    nb::dict found;
    found["work_begin"] = each([](const Window& w) { return w.work_begin; });
    found["work_end"] = each([](const Window& w) { return w.work_end; });
    found["met_begin"] = each([](const Window& w) { return w.met_begin; });
    found["met_end"] = each([](const Window& w) { return w.met_end; });
    found["pages"] = each([](const Window& w) { return w.pages; });
    const auto flag = [&](const char* name, auto of) {
        found[name] = by_stream<std::uint8_t>(trace, of).attr("view")("?");
    };
    flag("exists", [](const WindowStream& s) { return s.exists; });
    flag("waits", [](const WindowStream& s) { return s.waits; });
    const auto count = [&](const char* name, auto of) {
        found[name] = by_stream<std::uint64_t>(trace, of);
    };
    count("instructions_begin", [](const WindowStream& s) { return s.instructions_begin; });
    count("instructions_end", [](const WindowStream& s) { return s.instructions_end; });
    count("accesses_begin", [](const WindowStream& s) { return s.accesses_begin; });
    count("accesses_end", [](const WindowStream& s) { return s.accesses_end; });
    return found;
}

nb::dict meetings_of(const SampledTrace& trace) {
    nb::dict found;
    found["work"] = column<std::uint64_t>(trace.meetings, [](const Meeting& m) { return m.work; });
    found["met"] = column<std::uint64_t>(trace.meetings, [](const Meeting& m) { return m.met; });
    std::vector<std::uint64_t> instructions;
    for (const Meeting& m : trace.meetings)
        instructions.insert(instructions.end(), m.instructions.begin(), m.instructions.end());
    found["instructions"] =
        array_of(std::move(instructions), trace.meetings.size(), trace.parents.size());
    return found;
}

nb::dict intervals_of(const SampledTrace& trace) {
    nb::dict found;
    std::vector<std::uint64_t> touches;
    for (const Interval& i : trace.intervals)
        touches.insert(touches.end(), i.touches.begin(), i.touches.end());
    found["touches"] = array_of(std::move(touches), trace.intervals.size(),
                                std::tuple_size_v<decltype(Interval::touches)>);
    found["writes"] =
        column<std::uint64_t>(trace.intervals, [](const Interval& i) { return i.writes; });
    found["instructions"] =
        column<std::uint64_t>(trace.intervals, [](const Interval& i) { return i.instructions; });
    found["who"] = column<std::uint64_t>(trace.intervals, [](const Interval& i) { return i.who; });
    return found;
}

nb::dict pages_of(const SampledTrace& trace) {
    nb::dict found;
    found["first_page"] =
        column<std::uint64_t>(trace.pages, [](const PageRun& p) { return p.first_page; });
    found["pages"] = column<std::uint32_t>(trace.pages, [](const PageRun& p) { return p.pages; });
    found["stream"] = column<std::uint32_t>(trace.pages, [](const PageRun& p) { return p.stream; });
    return found;
}

nb::dict totals_of(const SampledTrace& trace) {
    nb::dict found;
    const auto count = [&](const char* name, auto of) {
        found[name] = column<std::uint64_t>(trace.totals, of);
    };
    count("accesses", [](const StreamTotals& t) { return t.accesses; });
    count("instructions", [](const StreamTotals& t) { return t.instructions; });
    count("roi_accesses", [](const StreamTotals& t) { return t.roi_accesses; });
    count("roi_instructions", [](const StreamTotals& t) { return t.roi_instructions; });
    return found;
}

nb::dict lines_of(const std::vector<LineRun>& runs) {
    nb::dict found;
    found["first_line"] =
        column<std::uint64_t>(runs, [](const LineRun& r) { return r.first_line; });
    found["lines"] = column<std::uint32_t>(runs, [](const LineRun& r) { return r.lines; });
    found["written"] =
        column<std::uint8_t>(runs, [](const LineRun& r) { return r.written; }).attr("view")("?");
    found["stamp"] = column<std::uint64_t>(runs, [](const LineRun& r) { return r.stamp; });
    return found;
}

// The events, and of each stream the snapshot.
nb::tuple window_of(const SampledTrace& trace, std::size_t window) {
    if (window >= trace.windows.size()) throw nb::index_error("no such window");
    WindowEvents events = read_window(trace, window);
    nb::list warm;
    for (const std::vector<LineRun>& runs : events.warm) warm.append(lines_of(runs));
    return nb::make_tuple(std::make_shared<Trace>(std::move(events.events)), warm);
}

}  // namespace

void bind_sampled_trace(nb::module_& module) {
    nb::class_<SampledTrace>(module, "SampledTrace",
                             "A captured program of which windows are recorded; immutable.")
        .def_prop_ro("digest", [](const SampledTrace& self) { return self.digest; })
        .def_prop_ro(
            "streams", [](const SampledTrace& self) { return self.parents.size(); },
            "Number of streams (threads), in order of creation.")
        .def_prop_ro("parents", [](const SampledTrace& self) { return self.parents; })
        .def_prop_ro(
            "work", [](const SampledTrace& self) { return self.work; },
            "Accesses of all streams in the region of interest.")
        .def_prop_ro(
            "met", [](const SampledTrace& self) { return self.met; },
            "How often all threads of the largest team met in the region.")
        .def_prop_ro("windows", &windows_of,
                     "Columns by name: of windows, and of windows by streams.")
        .def_prop_ro("meetings", &meetings_of, "Columns by name; instructions by streams.")
        .def_prop_ro("interval_work", [](const SampledTrace& self) { return self.interval_work; })
        .def_prop_ro("intervals", &intervals_of,
                     "Columns by name, of intervals of so much work; touches by pauses.")
        .def_prop_ro("pages", &pages_of,
                     "Columns by name: runs of pages in order of first touch, and by whom.")
        .def_prop_ro("totals", &totals_of, "Columns by name, of streams: of the whole run.")
        .def(
            "skeleton",
            [](const SampledTrace& self) -> std::shared_ptr<Trace> { return read_skeleton(self); },
            nb::call_guard<nb::gil_scoped_release>(),
            "All events of the run but accesses; a `compute` whose value is not 0 gives the "
            "progress of the region's work. None where the capture kept none. Raises TraceError "
            "naming "
            "file "
            "and offset.")
        .def("window", &window_of, nb::arg("number"),
             "Read a window: its events as a trace, and of each stream the lines that it touched "
             "last before, newest first. Raises TraceError naming file and offset.");

    module.def(
        "is_sampled",
        [](const std::filesystem::path& directory) { return is_sampled(directory.string()); },
        nb::arg("directory"), "Whether the directory holds a sampled trace.");
    module.def(
        "read_sampled",
        [](const std::filesystem::path& directory) { return read_sampled(directory.string()); },
        nb::arg("directory"),
        "Read a sampled trace, but for its windows' events. Raises TraceError naming file "
        "and offset.");
}
