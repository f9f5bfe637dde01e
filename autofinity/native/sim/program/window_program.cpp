// The program of a window. It has no data on pages that its streams do not touch and that hold no
// line of the snapshots.
#include "window_program.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "program_builder.hpp"
#include "sim/error.hpp"
#include "trace/whole_window.hpp"

namespace autofinity::sim {
namespace {

constexpr unsigned region_shift = 9;  // pages of 2 MiB
constexpr std::uint64_t page_limit = std::uint64_t{1} << 36;
constexpr std::uint64_t line_limit = page_limit << page_shift;

// A stream with less than this part of the busiest stream's work has waited for most of the window:
// for other streams, or for a processor during the capture.
constexpr std::uint64_t least_share = 4;

std::uint64_t instructions_of(const trace::Stream& stream) {
    std::uint64_t sum = 0;
    for (const trace::Event& event : stream.events) sum += event.gap;
    return sum;
}

void check(const WindowStart& start, std::size_t streams) {
    if (start.warm.size() != streams || start.after.size() != streams)
        throw SimulationError("got snapshots of " + std::to_string(start.warm.size()) +
                              " streams and ends of " + std::to_string(start.after.size()) +
                              "; the window has " + std::to_string(streams));
    for (const trace::PageRun& run : start.pages)
        if (run.stream >= streams || run.first_page + run.pages > page_limit)
            throw SimulationError("a first touch of " + std::to_string(run.pages) +
                                  " pages from page " + std::to_string(run.first_page) +
                                  " on by stream " + std::to_string(run.stream) +
                                  "; expected pages of 48 bits of address and one of " +
                                  std::to_string(streams) + " streams");
    for (const auto& runs : start.warm)
        for (const trace::LineRun& run : runs)
            if (run.first_line + run.lines > line_limit)
                throw SimulationError("a snapshot has line " + std::to_string(run.first_line) +
                                      ", which is beyond 48 bits of address");
}

// Calls `visit(stream, runs)` with the runs that each stream touched at one stamp after the other,
// newest first; streams of one stamp in order.
template <typename Visit>
void each_stamp(const std::vector<std::vector<trace::LineRun>>& warm, Visit&& visit) {
    std::vector<std::size_t> next(warm.size(), 0);
    for (;;) {
        std::uint64_t stamp = 0;
        bool any = false;
        for (std::size_t s = 0; s < warm.size(); ++s) {
            if (next[s] == warm[s].size()) continue;
            stamp = any ? std::max(stamp, warm[s][next[s]].stamp) : warm[s][next[s]].stamp;
            any = true;
        }
        if (!any) return;
        std::vector<std::pair<std::uint32_t, std::pair<std::size_t, std::size_t>>> here;
        for (std::size_t s = 0; s < warm.size(); ++s) {
            const std::size_t first = next[s];
            while (next[s] != warm[s].size() && warm[s][next[s]].stamp >= stamp) ++next[s];
            if (next[s] != first) here.push_back({static_cast<std::uint32_t>(s), {first, next[s]}});
        }
        visit(here);
    }
}

}  // namespace

Program window_program(trace::WindowEvents&& window, std::vector<trace::PageRun> pages,
                       const std::vector<bool>& waits) {
    const std::size_t streams = window.events.streams.size();
    if (streams == 0) throw SimulationError("the window holds no stream");
    if (waits.size() != streams)
        throw SimulationError("got " + std::to_string(waits.size()) +
                              " ends of streams; the window has " + std::to_string(streams));
    WindowStart start{std::move(pages), std::move(window.warm), {}};
    std::vector<std::uint64_t> done;
    for (const auto& stream : window.events.streams) done.push_back(instructions_of(stream));
    const std::uint64_t most = *std::ranges::max_element(done);
    for (std::size_t s = 0; s < streams; ++s) {
        const auto& events = window.events.streams[s].events;
        const bool ended = events.empty() || events.back().kind == trace::Kind::thread_end;
        const bool waited = waits[s] || done[s] < most / least_share;
        start.after.push_back(ended ? After::nothing : waited ? After::waits : After::goes_on);
    }
    trace::Trace whole = trace::whole_window(window.events);
    window.events = {};
    return Program(std::move(whole), start);
}

Program window_program(const trace::SampledTrace& trace, std::size_t number) {
    if (number >= trace.windows.size())
        throw SimulationError("the trace has no window " + std::to_string(number) + "; it has " +
                              std::to_string(trace.windows.size()));
    const trace::Window& window = trace.windows[number];
    std::vector<bool> waits;
    for (const trace::WindowStream& stream : window.streams) waits.push_back(stream.waits);
    const auto before =
        static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(window.pages, trace.pages.size()));
    return window_program(trace::read_window(trace, number),
                          {trace.pages.begin(), trace.pages.begin() + before}, waits);
}

Program::Program(trace::Trace&& whole_window, const WindowStart& start) {
    if (whole_window.streams.empty()) throw SimulationError("the window holds no stream");
    check(start, whole_window.streams.size());
    ProgramBuilder builder(*this);
    builder.add(std::move(whole_window));
    builder.begin_with(start);
    builder.finish();
}

void ProgramBuilder::begin_with(const WindowStart& start) {
    auto beginning = std::make_shared<Beginning>();
    process_ = 0;
    add_warm_lines(start, *beginning);
    add_first_touches(start, *beginning);
    process_ = 1;
    beginning->after = start.after;
    program_.beginning = std::move(beginning);
}

// The order in which streams touched lines at one stamp is unknown: a stream that has read a line
// has read the writes of others.
void ProgramBuilder::add_warm_lines(const WindowStart& start, Beginning& beginning) {
    std::size_t lines = 0;
    for (const auto& runs : start.warm)
        for (const trace::LineRun& run : runs) lines += run.lines;
    beginning.lines.reserve(lines);
    last_name_ = ~std::uint64_t{0};
    each_stamp(start.warm, [&](const auto& streams) {
        for (const bool written : {false, true})
            for (auto at = streams.rbegin(); at != streams.rend(); ++at) {
                Reader r;
                r.local = at->first;
                for (std::size_t i = at->second.second; i-- > at->second.first;) {
                    const trace::LineRun& run = start.warm[at->first][i];
                    if (run.written != written) continue;
                    for (std::uint64_t n = run.lines; n-- > 0;) {
                        const std::uint64_t line = run.first_line + n;
                        beginning.lines.emplace_back(
                            group_of_line(r, line) << group_shift |
                                static_cast<Line>(line & ((1u << group_shift) - 1)),
                            at->first, written);
                    }
                }
            }
    });
}

// A larger page has the node of the thread that touched its first 4 KiB: these need a number, too.
void ProgramBuilder::add_first_touches(const WindowStart& start, Beginning& beginning) {
    std::unordered_set<std::uint64_t> regions;
    for (std::uint32_t group = 1; group < groups_; ++group)
        regions.insert(first_page_[group] >> region_shift);
    for (const trace::PageRun& run : start.pages) {
        Reader r;
        r.local = run.stream;
        const std::uint64_t end = run.first_page + run.pages;
        for (std::uint64_t page = run.first_page; page < end;
             page = ((page >> region_shift) + 1) << region_shift)
            if (regions.erase(page >> region_shift) != 0) group_of_line(r, page << page_shift);
    }
    for (const trace::PageRun& run : start.pages) {
        const std::uint64_t end = run.first_page + run.pages;
        for (std::uint64_t page = run.first_page; page < end;) {
            const std::uint64_t last = std::min(end, (page | 7) + 1);
            if (const std::uint32_t number = program_.page_of(0, page); number != 0)
                for (std::uint32_t i = 0; i < last - page; ++i)
                    beginning.pages.push_back({number + i, run.stream});
            page = last;
        }
    }
}

}  // namespace autofinity::sim
