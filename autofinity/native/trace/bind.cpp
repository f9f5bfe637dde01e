// Python face of the trace room: `autofinity._core.trace`.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <unordered_set>
#include <utility>

#include "trace/trace.hpp"
#include "trace/whole_window.hpp"

namespace nb = nanobind;
using namespace autofinity::trace;

namespace {

constexpr std::uint64_t kLineLimit = 1ull << 58;  // 64-bit addresses have 58 bits of line

// Hand-made traces for tests and microbenchmarks: events are appended stream by stream.
class TraceBuilder {
  public:
    std::uint32_t stream(std::uint32_t parent) {
        if (parent > streams_.size()) throw nb::value_error("parent: no such stream yet");
        Stream made;
        made.parent = parent;
        streams_.push_back(std::move(made));
        return static_cast<std::uint32_t>(streams_.size() - 1);
    }

    void add(std::uint32_t stream, Kind kind, std::uint64_t value, std::uint32_t gap,
             std::uint16_t span, std::uint16_t aux, std::uint16_t reads, std::uint16_t writes,
             std::uint8_t flags) {
        if (stream >= streams_.size()) throw nb::index_error("no such stream");
        if (kind == Kind::access && value >= kLineLimit)
            throw nb::value_error("line: must be an address >> 6");
        streams_[stream].events.push_back(
            Event{value, gap, span, aux, reads, writes, kind, flags, 0});
    }

    std::shared_ptr<Trace> build() const {
        auto trace = std::make_shared<Trace>();
        trace->streams = streams_;
        return trace;
    }

  private:
    std::vector<Stream> streams_;
};

std::uint64_t count_accesses(const Trace& trace) {
    std::uint64_t sum = 0;
    for (const Stream& stream : trace.streams)
        for (const Event& event : stream.events)
            if (event.kind == Kind::access) sum += event.reads + event.writes;
    return sum;
}

std::uint64_t footprint_bytes(const Trace& trace) {
    std::unordered_set<std::uint64_t> lines;
    for (const Stream& stream : trace.streams)
        for (const Event& event : stream.events)
            if (event.kind == Kind::access) lines.insert(event.value);
    return lines.size() * 64;
}

// A read-only structured array over the stream's own memory (no copy); it keeps the trace alive.
nb::object events_of(std::shared_ptr<Trace> trace, std::size_t stream) {
    if (stream >= trace->streams.size()) throw nb::index_error("no such stream");
    const std::vector<Event>& events = trace->streams[stream].events;
    auto* holder = new std::shared_ptr<Trace>(trace);
    nb::capsule owner(holder,
                      [](void* p) noexcept { delete static_cast<std::shared_ptr<Trace>*>(p); });
    nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>> bytes(
        reinterpret_cast<const std::uint8_t*>(events.data()), {events.size() * sizeof(Event)},
        owner);
    nb::module_ numpy = nb::module_::import_("numpy");
    nb::list fields;
    const auto field = [&](const char* name, const char* type) {
        fields.append(nb::make_tuple(name, type));
    };
    field("value", "<u8");
    field("gap", "<u4");
    field("span", "<u2");
    field("aux", "<u2");
    field("reads", "<u2");
    field("writes", "<u2");
    field("kind", "u1");
    field("flags", "u1");
    field("reserved", "<u2");
    nb::object dtype = numpy.attr("dtype")(fields);
    if (events.empty()) return numpy.attr("zeros")(0, dtype);
    return nb::cast(bytes).attr("view")(dtype);
}

nb::dict summary_of(const std::filesystem::path& directory) {
    const TraceSummary summary = read_summary(directory.string());
    nb::list streams;
    for (const auto& stream : summary.streams) {
        nb::dict item;
        item["parent"] = stream.parent;
        item["events"] = stream.events;
        item["bytes"] = stream.bytes;
        item["accesses"] = stream.totals.accesses;
        item["instructions"] = stream.totals.instructions;
        item["roi_accesses"] = stream.totals.roi_accesses;
        item["roi_instructions"] = stream.totals.roi_instructions;
        streams.append(item);
    }
    nb::dict result;
    result["digest"] = summary.digest;
    result["wall_ns"] = summary.wall_ns;
    result["cpu_ns"] = summary.cpu_ns;
    result["roi_begins"] = summary.roi_begins;
    result["spins"] = summary.spins;
    result["counted_instructions"] = summary.counted_instructions;
    result["steady_addresses"] = summary.steady_addresses;
    result["sampled"] = summary.sampled;
    result["streams"] = streams;
    return result;
}

}  // namespace

void bind_sampled_trace(nb::module_& module);

void bind_trace(nb::module_& module) {
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const TraceError& error) {
            nb::object type = nb::module_::import_("autofinity.model.errors").attr("TraceError");
            // Its paths are bytes: not all of them are UTF-8.
            nb::object said = nb::steal(PyUnicode_DecodeFSDefault(error.what()));
            if (said.is_valid()) PyErr_SetObject(type.ptr(), said.ptr());
        }
    });

    nb::class_<Trace>(module, "Trace", "A captured program in memory; immutable.")
        .def_prop_ro(
            "streams", [](const Trace& self) { return self.streams.size(); },
            "Number of streams (threads), in order of creation.")
        .def(
            "parent", [](const Trace& self, std::size_t i) { return self.streams.at(i).parent; },
            nb::arg("stream"), "Stream that created this one.")
        .def(
            "events", [](std::shared_ptr<Trace> self, std::size_t i) { return events_of(self, i); },
            nb::arg("stream"), "Events of a stream as a read-only structured array.")
        .def_prop_ro(
            "n_events",
            [](const Trace& self) {
                std::size_t sum = 0;
                for (const Stream& stream : self.streams) sum += stream.events.size();
                return sum;
            },
            "Events of all streams.")
        .def_prop_ro("n_accesses", &count_accesses, "Loads and stores of all streams.")
        .def_prop_ro("footprint", &footprint_bytes, "Bytes of all lines touched.")
        .def_prop_ro(
            "digest", [](const Trace& self) { return self.digest; },
            "Digest of the files of the trace; empty for a hand-made trace.")
        .def(
            "write",
            [](const Trace& self, const std::filesystem::path& directory) {
                write_trace(self, directory.string());
            },
            nb::arg("directory"), nb::call_guard<nb::gil_scoped_release>(),
            "Write it into an existing, empty directory.");

    module.def(
        "read",
        [](const std::filesystem::path& directory) { return read_trace(directory.string()); },
        nb::arg("directory"), nb::call_guard<nb::gil_scoped_release>(),
        "Read a trace directory. Raises TraceError naming file and offset.");
    module.def(
        "whole_window",
        [](const Trace& recorded) { return std::make_shared<Trace>(whole_window(recorded)); },
        nb::arg("recorded"), nb::call_guard<nb::gil_scoped_release>(),
        "The recording of a window of a run, as a trace that can be replayed by itself.");
    module.def("summary", &summary_of, nb::arg("directory"),
               "The facts in the index of a trace directory, without decoding events.");

    bind_sampled_trace(module);

    nb::class_<TraceBuilder>(module, "TraceBuilder", "Makes traces by hand, event by event.")
        .def(nb::init<>())
        .def("stream", &TraceBuilder::stream, nb::arg("parent") = 0,
             "Add a stream; returns its index, by which the other calls name it.")
        .def(
            "event",
            [](TraceBuilder& self, std::uint32_t stream, int kind, std::uint64_t value,
               std::uint32_t gap, std::uint16_t span, std::uint16_t aux, std::uint16_t reads,
               std::uint16_t writes, std::uint8_t flags) {
                if (kind < 0 || kind > static_cast<int>(Kind::heartbeat))
                    throw nb::value_error("kind: must be 0 to 13");
                self.add(stream, static_cast<Kind>(kind), value, gap, span, aux, reads, writes,
                         flags);
            },
            nb::arg("stream"), nb::arg("kind"), nb::arg("value") = 0, nb::arg("gap") = 0,
            nb::arg("span") = 0, nb::arg("aux") = 0, nb::arg("reads") = 0, nb::arg("writes") = 0,
            nb::arg("flags") = 0, "Append any event.")
        .def(
            "access",
            [](TraceBuilder& self, std::uint32_t stream, std::uint64_t line, std::uint16_t reads,
               std::uint16_t writes, std::uint32_t gap, std::uint16_t span, std::uint8_t flags) {
                self.add(stream, Kind::access, line, gap, span, 0, reads, writes, flags);
            },
            nb::arg("stream"), nb::arg("line"), nb::arg("reads") = 1, nb::arg("writes") = 0,
            nb::arg("gap") = 1, nb::arg("span") = 0, nb::arg("flags") = 0,
            "Append a run of accesses to one 64-byte line.")
        .def(
            "lock",
            [](TraceBuilder& self, std::uint32_t stream, std::uint64_t value, std::uint32_t gap,
               bool shared) {
                self.add(stream, Kind::lock, value, gap, 0, shared ? lock_shared : 0, 0, 0, 0);
            },
            nb::arg("stream"), nb::arg("value") = 0, nb::arg("gap") = 1, nb::arg("shared") = false,
            "Enter mutual exclusion on an object; `shared`: as a reader, of writers only.")
    // `wait` appends an await, whose own name is a keyword in Python.
#define AUTOFINITY_SIMPLE(name, kind, text)                                                    \
    .def(                                                                                      \
        #name,                                                                                 \
        [](TraceBuilder& self, std::uint32_t stream, std::uint64_t value, std::uint32_t gap) { \
            self.add(stream, Kind::kind, value, gap, 0, 0, 0, 0, 0);                           \
        },                                                                                     \
        nb::arg("stream"), nb::arg("value") = 0, nb::arg("gap") = 1, text)
        // clang-format off
        AUTOFINITY_SIMPLE(unlock, unlock, "Leave mutual exclusion on an object.")
        AUTOFINITY_SIMPLE(post, post, "Post a token.")
        AUTOFINITY_SIMPLE(wait, await, "Wait for a token.")
        AUTOFINITY_SIMPLE(roi_begin, roi_begin, "The region of interest of the program begins.")
        AUTOFINITY_SIMPLE(roi_end, roi_end, "The region of interest of the program ends.")
        AUTOFINITY_SIMPLE(thread_begin, thread_begin, "First event of a stream.")
        AUTOFINITY_SIMPLE(thread_end, thread_end, "Last event of a stream.")
        AUTOFINITY_SIMPLE(compute, compute, "Instructions without accesses.")
        AUTOFINITY_SIMPLE(heartbeat, heartbeat, "Useful work done, in units.")
    // clang-format on
#undef AUTOFINITY_SIMPLE
        .def(
            "barrier",
            [](TraceBuilder& self, std::uint32_t stream, std::uint64_t object,
               std::uint16_t participants, std::uint32_t gap) {
                self.add(stream, Kind::barrier, object, gap, 0, participants, 0, 0, 0);
            },
            nb::arg("stream"), nb::arg("object"), nb::arg("participants"), nb::arg("gap") = 1,
            "Arrive at a barrier.")
        .def(
            "unit_begin",
            [](TraceBuilder& self, std::uint32_t stream, std::uint64_t instance, std::uint64_t unit,
               std::uint32_t gap) {
                self.add(stream, Kind::unit_begin, instance << 20 | unit, gap, 0, 0, 0, 0, 0);
            },
            nb::arg("stream"), nb::arg("instance"), nb::arg("unit"), nb::arg("gap") = 1,
            "Begin a unit of dynamically handed out work.")
        .def(
            "unit_end",
            [](TraceBuilder& self, std::uint32_t stream, std::uint64_t instance, std::uint64_t unit,
               std::uint32_t gap) {
                self.add(stream, Kind::unit_end, instance << 20 | unit, gap, 0, 0, 0, 0, 0);
            },
            nb::arg("stream"), nb::arg("instance"), nb::arg("unit"), nb::arg("gap") = 1,
            "End a unit of dynamically handed out work.")
        .def("build", &TraceBuilder::build, "The trace, as it stands now.")
        .def(
            "write",
            [](const TraceBuilder& self, const std::filesystem::path& directory) {
                write_trace(*self.build(), directory.string());
            },
            nb::arg("directory"), "Write the trace into an existing, empty directory.");
}
