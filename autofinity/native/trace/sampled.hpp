// A sampled trace in memory: windows of a long run, and the state to begin at each.
//
//     run     ─────[■]──────────[■]──────────[■]────────   work of all threads in the region
//     window       └ a cut through all threads at one moment, and another some work later
//
// Nothing here depends on a machine. On disk: sampled_format.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace autofinity::trace {

// Neighbouring pages (4 KiB, virtual) that one stream touched before any other.
struct PageRun {
    std::uint64_t first_page;
    std::uint32_t pages;
    std::uint32_t stream;
};

// Neighbouring lines that a stream touched last at a stamp of the run's coarse clock.
struct LineRun {
    std::uint64_t first_line;
    std::uint32_t lines;
    bool written;
    std::uint64_t stamp;  // of any stream: larger is later
};

struct WindowStream {
    bool exists = false;  // it had begun and not ended when the window was opened
    bool waits = false;   // its next action after the window waits for another stream
    std::uint64_t instructions_begin = 0, instructions_end = 0;  // since its own beginning
    std::uint64_t accesses_begin = 0, accesses_end = 0;
};

struct Window {
    std::uint64_t work_begin, work_end;  // accesses of all streams in the region until then
    std::uint64_t met_begin, met_end;    // meetings in the region until then
    std::uint64_t pages;  // entries of SampledTrace::pages that were touched until its begin
    std::vector<WindowStream> streams;
};

// A moment when all threads of the largest team had come to one point; the first is the region's
// begin, the last its end.
struct Meeting {
    std::uint64_t work;
    std::uint64_t met;                        // meetings up to this one
    std::vector<std::uint64_t> instructions;  // of each stream
};

// Activity of all streams in an interval of the region's work: touches of lines by the time since
// the stream had touched the line before, in doubling steps of the coarse clock; the last: never.
struct Interval {
    std::array<std::uint64_t, 16> touches;
    std::uint64_t writes;  // of the touches
    std::uint64_t instructions;
    std::uint64_t who;  // bit i: a stream whose number modulo 64 is i did something
};

struct SampledTrace {
    std::string directory;
    std::string digest;
    std::vector<StreamTotals> totals;  // of the whole run
    std::vector<std::uint32_t> parents;
    std::uint64_t work = 0, met = 0;  // of the whole region
    std::vector<Window> windows;      // in order of work
    std::vector<Meeting> meetings;    // in order of work
    bool has_skeleton = false;
    std::uint64_t interval_work = 0;
    std::vector<Interval> intervals;  // of the region, each of so much work
    std::vector<PageRun> pages;       // in order of first touch
};

// The lines with which a window's replay begins, newest first, and the events of its streams, as
// recorded: events whose other half lies outside of the window included (whole_window.hpp repairs
// these).
struct WindowEvents {
    std::vector<std::vector<LineRun>> warm;  // of each stream
    Trace events;
};

// Whether the directory holds a sampled trace.
bool is_sampled(const std::string& directory);

// Reads everything except windows' events and snapshots. Throws TraceError with file, offset and
// reason.
std::shared_ptr<SampledTrace> read_sampled(const std::string& directory);

// Reads all events of the run except accesses; a `compute` whose value is not 0 gives the region's
// work so far. Null where the capture kept none. Throws TraceError with file, offset and reason.
std::shared_ptr<Trace> read_skeleton(const SampledTrace& trace);

// Reads one window. Throws TraceError with file, offset and reason.
WindowEvents read_window(const SampledTrace& trace, std::size_t window);

}  // namespace autofinity::trace
