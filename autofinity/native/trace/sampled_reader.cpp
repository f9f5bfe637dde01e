// Reads a sampled trace: its common parts at once, windows one by one.
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "trace/reading.hpp"
#include "trace/sampled.hpp"
#include "trace/sampled_format.h"
#include "trace/varints.hpp"

namespace autofinity::trace {
namespace {

constexpr std::uint64_t kPageLimit = 1ull << 52, kLineLimit = 1ull << 58;
constexpr std::uint64_t kMostLines = 1ull << 24;  // of a snapshot, more than any capture keeps

// The windows as they are on disk.
struct Windows {
    File file;
    af_windows_header header;

    std::size_t window_bytes() const {
        return sizeof(af_window) + header.streams * sizeof(af_window_stream);
    }
    std::size_t meeting_bytes() const {
        return sizeof(af_meeting_record) + header.streams * sizeof(std::uint64_t);
    }
    std::size_t at_window(std::size_t i) const { return sizeof header + i * window_bytes(); }
    std::size_t at_stream(std::size_t window, std::size_t i) const {
        return at_window(window) + sizeof(af_window) + i * sizeof(af_window_stream);
    }
    std::size_t at_meeting(std::size_t i) const {
        return at_window(header.windows) + i * meeting_bytes();
    }
    std::size_t at_interval(std::size_t i) const {
        return at_meeting(header.meetings) + i * sizeof(af_interval);
    }
    af_window_stream stream(std::size_t window, std::size_t i) const {
        return take<af_window_stream>(file, at_stream(window, i), "window");
    }
};

void check_crc(const File& file, std::size_t body) {
    if (take<std::uint32_t>(file, body, "checksum") !=
        af_crc(&crc_table(), 0, file.bytes.get(), body))
        file.fail(body, "checksum mismatch");
}

void check_file(const File& file, std::uint64_t magic, std::uint32_t stream, const char* what) {
    const auto header = take<af_sampled_file>(file, 0, "header");
    if (header.magic != magic) file.fail(0, std::string("this is no file of ") + what);
    check_version(file, header.version, AF_SAMPLED_VERSION);
    if (header.stream != stream)
        file.fail(offsetof(af_sampled_file, stream), "this file is another stream's");
}

void check_part(const Windows& windows, std::size_t at, const af_window_stream& part,
                const af_index_stream& record) {
    const auto within = [](std::uint64_t begin, std::uint64_t bytes, std::uint64_t size) {
        return begin <= size && bytes <= size - begin;
    };
    if (part.instructions_begin > part.instructions_end ||
        part.accesses_begin > part.accesses_end || part.flags > 3 ||
        (part.chunks_bytes == 0) != (part.events == 0))
        windows.file.fail(at, "impossible numbers of a window");
    if (part.chunks_bytes > 0 && (part.chunks_at < sizeof(af_stream_header) ||
                                  !within(part.chunks_at, part.chunks_bytes, record.bytes)))
        windows.file.fail(at, "a window lies outside of its stream's file");
    if (((part.flags & AF_WINDOW_EXISTS) != 0) != (part.warm_bytes > 0))
        windows.file.fail(at, "a snapshot is missing or too many");
}

Windows open_windows(const std::string& directory, const Index& index) {
    File file = slurp(windows_path(directory));
    const auto header = take<af_windows_header>(file, 0, "header");
    if (header.magic != AF_WINDOWS_MAGIC) file.fail(0, "these are no windows of a trace");
    check_version(file, header.version, AF_SAMPLED_VERSION);
    if (header.streams != index.header.streams)
        file.fail(offsetof(af_windows_header, streams), "the index has another number of streams");
    if (header.windows > AF_MAX_WINDOWS || header.meetings > AF_MAX_MEETINGS)
        file.fail(offsetof(af_windows_header, windows), "impossible number of windows or meetings");
    if (header.intervals > AF_MAX_INTERVALS || header.interval_work == 0)
        file.fail(offsetof(af_windows_header, interval_work), "impossible intervals");
    if (header.flags > AF_WINDOWS_SKELETON)
        file.fail(offsetof(af_windows_header, flags), "unknown flags");
    Windows windows{std::move(file), header};
    const std::size_t body = windows.at_interval(header.intervals);
    if (windows.file.size != body + sizeof(std::uint32_t))
        windows.file.fail(std::min(windows.file.size, body),
                          "the file has " + std::to_string(windows.file.size) +
                              " bytes, its header promises " +
                              std::to_string(body + sizeof(std::uint32_t)));
    check_crc(windows.file, body);
    return windows;
}

std::vector<Window> windows_of(const Windows& windows, const Index& index) {
    std::vector<Window> result;
    std::uint64_t work = 0, met = 0, pages = 0;
    for (std::size_t w = 0; w < windows.header.windows; w++) {
        const std::size_t at = windows.at_window(w);
        const auto found = take<af_window>(windows.file, at, "window");
        if (found.work_begin < work || found.work_end < found.work_begin || found.met_begin < met ||
            found.met_end < found.met_begin || found.pages < pages)
            windows.file.fail(at, "windows are out of order");
        pages = found.pages;
        work = found.work_end;
        met = found.met_end;
        Window window{found.work_begin, found.work_end, found.met_begin,
                      found.met_end,    found.pages,    {}};
        for (std::size_t i = 0; i < windows.header.streams; i++) {
            const af_window_stream part = windows.stream(w, i);
            check_part(windows, windows.at_stream(w, i), part, index.streams[i]);
            window.streams.push_back({(part.flags & AF_WINDOW_EXISTS) != 0,
                                      (part.flags & AF_WINDOW_WAITS) != 0, part.instructions_begin,
                                      part.instructions_end, part.accesses_begin,
                                      part.accesses_end});
        }
        result.push_back(std::move(window));
    }
    return result;
}

std::vector<Meeting> meetings_of(const Windows& windows) {
    std::vector<Meeting> result;
    for (std::size_t m = 0; m < windows.header.meetings; m++) {
        const std::size_t at = windows.at_meeting(m);
        const auto found = take<af_meeting_record>(windows.file, at, "meeting");
        if (m > 0 && (found.work < result.back().work || found.met < result.back().met))
            windows.file.fail(at, "meetings are out of order");
        Meeting meeting{found.work, found.met, std::vector<std::uint64_t>(windows.header.streams)};
        for (std::size_t i = 0; i < windows.header.streams; i++)
            meeting.instructions[i] = take<std::uint64_t>(
                windows.file, at + sizeof found + i * sizeof(std::uint64_t), "meeting");
        result.push_back(std::move(meeting));
    }
    return result;
}

std::vector<Interval> intervals_of(const Windows& windows) {
    std::vector<Interval> result;
    for (std::size_t i = 0; i < windows.header.intervals; i++) {
        const auto found = take<af_interval>(windows.file, windows.at_interval(i), "interval");
        Interval interval{{}, found.writes, found.instructions, found.who};
        std::ranges::copy(found.touches, interval.touches.begin());
        result.push_back(interval);
    }
    return result;
}

std::vector<PageRun> read_pages(const std::string& directory, std::uint32_t streams) {
    const File file = slurp(pages_path(directory));
    check_file(file, AF_PAGES_MAGIC, 0, "pages");
    if (file.size < sizeof(af_sampled_file) + sizeof(std::uint32_t))
        file.fail(file.size, "truncated list of pages");
    const std::size_t body = file.size - sizeof(std::uint32_t);
    check_crc(file, body);
    Varints numbers(file, sizeof(af_sampled_file), body);
    const std::uint64_t runs = numbers.count(3);
    std::vector<PageRun> result;
    result.reserve(runs);
    std::uint64_t after = 0;
    for (std::uint64_t i = 0; i < runs; i++) {
        const std::uint64_t first = after + numbers.signed_number();
        const std::uint64_t pages = numbers.at_most(UINT32_MAX), stream = numbers.at_most(streams);
        if (pages == 0 || stream == streams || first >= kPageLimit || pages > kPageLimit - first)
            numbers.fail("impossible pages");
        result.push_back(
            {first, static_cast<std::uint32_t>(pages), static_cast<std::uint32_t>(stream)});
        after = first + pages;
    }
    numbers.end();
    return result;
}

std::vector<LineRun> read_snapshot(const std::string& directory, std::uint32_t stream,
                                   const af_window_stream& part) {
    const std::string path = snapshots_path(directory, stream);
    check_file(slurp_part(path, 0, sizeof(af_sampled_file)), AF_WARM_MAGIC, stream, "snapshots");
    const File file = slurp_part(path, part.warm_at, part.warm_bytes);
    if (part.warm_crc != af_crc(&crc_table(), 0, file.bytes.get(), file.size))
        file.fail(0, "checksum mismatch of the snapshot that begins here");
    Varints numbers(file, 0, file.size);
    std::vector<LineRun> result;
    std::uint64_t lines_left = kMostLines, stamp = 0;
    for (std::uint64_t groups = numbers.count(4); groups > 0; groups--) {
        const std::uint64_t told = numbers.at_most(UINT32_MAX);
        if (!result.empty() && (told == 0 || told > stamp)) numbers.fail("groups are out of order");
        stamp = result.empty() ? told : stamp - told;
        const std::uint64_t runs = numbers.count(2);
        if (runs == 0) numbers.fail("an empty group");
        for (std::uint64_t i = 0, after = 0; i < runs; i++) {
            const std::uint64_t first = after + numbers.signed_number();
            const std::uint64_t length = numbers.at_most(UINT32_MAX), lines = length >> 1;
            if (lines == 0 || lines > lines_left || first >= kLineLimit ||
                lines > kLineLimit - first || (i > 0 && first < after))
                numbers.fail("impossible lines");
            lines_left -= lines;
            result.push_back({first, static_cast<std::uint32_t>(lines), (length & 1) != 0, stamp});
            after = first + lines;
        }
    }
    numbers.end();
    return result;
}

// Drops the region's marks: they are those of the whole run.
void drop_marks(std::vector<Event>& events) {
    std::uint64_t carried = 0;  // gap of dropped events, so that time is not lost
    std::erase_if(events, [&](Event& event) {
        if (event.kind == Kind::roi_begin || event.kind == Kind::roi_end) {
            carried += event.gap;
            return true;
        }
        const std::uint64_t gap = std::min<std::uint64_t>(event.gap + carried, UINT32_MAX);
        carried -= gap - event.gap;
        event.gap = static_cast<std::uint32_t>(gap);
        return false;
    });
}

std::vector<Event> read_events(const std::string& directory, std::uint32_t stream,
                               const af_window_stream& part, std::uint32_t parent) {
    const std::string path = stream_path(directory, stream);
    check_stream_header(slurp_part(path, 0, sizeof(af_stream_header)), stream, parent);
    if (part.chunks_bytes == 0) return {};
    const File file = slurp_part(path, part.chunks_at, part.chunks_bytes);
    const std::uint32_t first = take<af_chunk_header>(file, 0, "chunk header").sequence;
    const Chunks chunks = find_chunks(file, 0, first);
    if (chunks.events != part.events)
        file.fail(0, "the chunks from here on do not add up to what the window promises");
    std::vector<Event> events = decode_chunks(file, chunks);
    drop_marks(events);
    return events;
}

Index sampled_index(const std::string& directory) {
    Index index = read_index(directory);
    if (!index.sampled())
        throw TraceError(index_path(directory) +
                         ": this is a whole trace, without windows; capture the program with "
                         "--sampled for a sampled one");
    return index;
}

}  // namespace

bool is_sampled(const std::string& directory) {
    struct stat status;
    return stat(index_path(directory).c_str(), &status) == 0 &&
           stat(windows_path(directory).c_str(), &status) == 0;
}

std::shared_ptr<SampledTrace> read_sampled(const std::string& directory) {
    const Index index = sampled_index(directory);
    const Windows windows = open_windows(directory, index);
    auto trace = std::make_shared<SampledTrace>();
    trace->directory = directory;
    trace->digest = index.digest;
    trace->totals = totals_of(index);
    for (const af_index_stream& record : index.streams) trace->parents.push_back(record.parent);
    trace->work = windows.header.work;
    trace->met = windows.header.met;
    trace->windows = windows_of(windows, index);
    trace->meetings = meetings_of(windows);
    trace->interval_work = windows.header.interval_work;
    trace->has_skeleton = (windows.header.flags & AF_WINDOWS_SKELETON) != 0;
    trace->intervals = intervals_of(windows);
    trace->pages = read_pages(directory, index.header.streams);
    if (!trace->windows.empty() && trace->windows.back().pages > trace->pages.size())
        windows.file.fail(windows.at_window(windows.header.windows - 1),
                          "more pages are promised than were touched");
    return trace;
}

std::shared_ptr<Trace> read_skeleton(const SampledTrace& trace) {
    if (!trace.has_skeleton) return nullptr;
    const std::string directory = trace.directory + AF_SKELETON_FOLDER;
    auto skeleton = read_trace(directory);
    if (skeleton->streams.size() != trace.parents.size())
        throw TraceError(index_path(directory) + ": this skeleton has " +
                         std::to_string(skeleton->streams.size()) + " streams, its trace " +
                         std::to_string(trace.parents.size()));
    return skeleton;
}

WindowEvents read_window(const SampledTrace& trace, std::size_t window) {
    const Index index = sampled_index(trace.directory);
    const Windows windows = open_windows(trace.directory, index);
    if (index.digest != trace.digest || window >= windows.header.windows)
        throw TraceError(windows.file.path + ": there is no window " + std::to_string(window) +
                         " of the trace that was read; it was captured again meanwhile, or has "
                         "only " +
                         std::to_string(windows.header.windows) + " windows");
    windows_of(windows, index);
    WindowEvents result;
    result.events.digest = trace.digest + "/" + std::to_string(window);
    for (std::uint32_t i = 0; i < index.header.streams; i++) {
        const af_window_stream part = windows.stream(window, i);
        result.warm.push_back(part.warm_bytes > 0 ? read_snapshot(trace.directory, i, part)
                                                  : std::vector<LineRun>{});
        const std::uint32_t parent = index.streams[i].parent;
        result.events.streams.push_back(
            {parent, read_events(trace.directory, i, part, parent), trace.totals[i]});
    }
    return result;
}

}  // namespace autofinity::trace
