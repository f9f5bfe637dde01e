// Reads a trace directory, believing nothing: every count is checked against the bytes that are
// there before anything is allocated by it, every checksum before anything is decoded.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "trace/files.hpp"
#include "trace/trace.hpp"

namespace autofinity::trace {
namespace {

[[noreturn]] void fail(const std::string& file, std::uint64_t offset, const std::string& reason) {
    throw TraceError("damaged trace: " + file + " at offset " + std::to_string(offset) + ": " +
                     reason + "; capture the program again");
}

struct File {
    std::string path;
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size = 0;
};

File slurp(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        throw TraceError("cannot read the trace file " + path + ": " + std::strerror(errno) +
                         "; the folder holds no complete trace");
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        throw TraceError("cannot read the trace file " + path + ": not a regular file");
    }
    File file{path, nullptr, static_cast<std::size_t>(status.st_size)};
    file.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(file.size + 1);
    std::size_t done = 0;
    while (done < file.size) {
        const ssize_t got = read(fd, file.bytes.get() + done, file.size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    close(fd);
    if (done != file.size) fail(path, done, "the file ended or could not be read further");
    return file;
}

template <typename T>
T take(const File& file, std::size_t offset, const char* what) {
    if (offset + sizeof(T) > file.size) fail(file.path, offset, std::string("truncated ") + what);
    T value;
    std::memcpy(&value, file.bytes.get() + offset, sizeof value);
    return value;
}

// Both kinds of file have it right after their magic.
constexpr std::size_t version_offset = offsetof(af_index_header, version);
static_assert(version_offset == offsetof(af_stream_header, version));

void check_version(const File& file, std::uint32_t version) {
    if (version != AF_VERSION)
        throw TraceError(file.path + " at offset " + std::to_string(version_offset) +
                         ": this is trace format " + std::to_string(version) +
                         ", this autofinity reads " + std::to_string(AF_VERSION) +
                         "; use the autofinity that wrote it or capture again");
}

struct Index {
    af_index_header header;
    std::vector<af_index_stream> streams;
    std::string digest;
};

Index read_index(const std::string& directory) {
    const File file = slurp(index_path(directory));
    Index index{take<af_index_header>(file, 0, "header"), {}, {}};
    if (index.header.magic != AF_INDEX_MAGIC) fail(file.path, 0, "this is no trace index");
    check_version(file, index.header.version);
    if (index.header.streams == 0 || index.header.streams > AF_MAX_STREAMS)
        fail(file.path, offsetof(af_index_header, streams), "impossible number of streams");
    const std::size_t body =
        sizeof(af_index_header) + index.header.streams * sizeof(af_index_stream);
    if (file.size != body + sizeof(std::uint32_t))
        fail(file.path, std::min(file.size, body),
             "the file has " + std::to_string(file.size) + " bytes, its header promises " +
                 std::to_string(body + sizeof(std::uint32_t)));
    if (take<std::uint32_t>(file, body, "checksum") !=
        af_crc(&crc_table(), 0, file.bytes.get(), body))
        fail(file.path, body, "checksum mismatch");
    for (std::uint32_t i = 0; i < index.header.streams; i++)
        index.streams.push_back(take<af_index_stream>(
            file, sizeof(af_index_header) + i * sizeof(af_index_stream), "record"));
    // The records hold a checksum over every chunk, so a digest of the index (without the times,
    // which differ from run to run) stands for the events of the whole trace.
    std::uint64_t hash = 0xcbf29ce484222325ull;
    const std::uint8_t* const bytes = file.bytes.get();
    for (std::size_t i = 0; i < body; i++) {
        if (i >= offsetof(af_index_header, wall_ns) && i < offsetof(af_index_header, roi_begins))
            continue;
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    }
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    index.digest = text;
    return index;
}

std::vector<Event> read_stream(const std::string& directory, std::uint32_t number,
                               const af_index_stream& record) {
    const File file = slurp(stream_path(directory, number));
    const auto header = take<af_stream_header>(file, 0, "header");
    if (header.magic != AF_STREAM_MAGIC) fail(file.path, 0, "this is no trace stream");
    check_version(file, header.version);
    if (header.crc != af_crc(&crc_table(), 0, &header, offsetof(af_stream_header, crc)))
        fail(file.path, offsetof(af_stream_header, crc), "checksum mismatch");
    if (header.stream != number || header.parent != record.parent)
        fail(file.path, offsetof(af_stream_header, stream), "this file is another stream's");
    if (file.size != record.bytes)
        fail(file.path, std::min<std::uint64_t>(file.size, record.bytes),
             "the file has " + std::to_string(file.size) + " bytes, the index promises " +
                 std::to_string(record.bytes));

    // First pass: the frame. Nothing is allocated before it is known to be sound.
    std::vector<std::size_t> starts;
    std::uint64_t events = 0;
    std::uint32_t sum = 0;
    for (std::size_t at = sizeof(af_stream_header); at < file.size;) {
        const auto chunk = take<af_chunk_header>(file, at, "chunk header");
        if (chunk.magic != AF_CHUNK_MAGIC) fail(file.path, at, "no chunk begins here");
        if (chunk.sequence != starts.size()) fail(file.path, at, "a chunk is missing or doubled");
        if (chunk.bytes > AF_CHUNK_MAX_BYTES || chunk.events > AF_CHUNK_MAX_EVENTS ||
            chunk.bytes > file.size - at - sizeof chunk || chunk.events > 128ull * 8 * chunk.bytes)
            fail(file.path, at, "truncated chunk or impossible sizes");
        if (chunk.crc != af_chunk_crc(&crc_table(), &chunk, file.bytes.get() + at + sizeof chunk))
            fail(file.path, at, "checksum mismatch");
        sum = af_crc(&crc_table(), sum, &chunk.crc, sizeof chunk.crc);
        events += chunk.events;
        starts.push_back(at);
        at += sizeof chunk + chunk.bytes;
    }
    if (starts.size() != record.chunks || events != record.events || sum != record.crc)
        fail(file.path, file.size, "chunks do not add up to what the index promises");

    std::vector<Event> result(events);
    auto decoder = std::make_unique_for_overwrite<af_decoder>();
    auto* out = reinterpret_cast<af_event*>(result.data());
    for (const std::size_t at : starts) {
        const auto chunk = take<af_chunk_header>(file, at, "chunk header");
        const std::uint8_t* const payload = file.bytes.get() + at + sizeof chunk;
        if (const auto* wrong =
                af_decode(decoder.get(), payload, payload + chunk.bytes, out, chunk.events))
            fail(file.path, static_cast<std::uint64_t>(wrong - file.bytes.get()),
                 "no event is coded like this");
        out += chunk.events;
    }
    return result;
}

// The runtime cannot know which join is the last when the ROI is "the parallel part": it offers
// every one as a candidate. Keep the first begin and the candidate with the highest number.
void settle_roi(Trace& trace) {
    std::uint64_t last = 0;
    for (const Stream& stream : trace.streams)
        for (const Event& event : stream.events)
            if (event.kind == Kind::roi_end) last = std::max(last, event.value);
    for (Stream& stream : trace.streams) {
        std::uint32_t carried = 0;  // gap of what was dropped, so that time is not lost
        std::erase_if(stream.events, [&](Event& event) {
            if (event.kind == Kind::roi_end && event.value != last) {
                carried += event.gap;
                return true;
            }
            event.gap += carried;
            carried = 0;
            return false;
        });
    }
}

}  // namespace

std::shared_ptr<Trace> read_trace(const std::string& directory) {
    const Index index = read_index(directory);
    auto trace = std::make_shared<Trace>();
    trace->digest = index.digest;
    for (std::uint32_t i = 0; i < index.header.streams; i++) {
        const af_index_stream& record = index.streams[i];
        Stream stream;
        stream.parent = record.parent;
        stream.totals = {record.accesses, record.instructions, record.roi_accesses,
                         record.roi_instructions};
        stream.events = read_stream(directory, i, record);
        trace->streams.push_back(std::move(stream));
    }
    if (index.header.flags & AF_INDEX_ROI_CANDIDATES) settle_roi(*trace);
    return trace;
}

TraceSummary read_summary(const std::string& directory) {
    const Index index = read_index(directory);
    TraceSummary summary;
    summary.digest = index.digest;
    summary.wall_ns = index.header.wall_ns;
    summary.cpu_ns = index.header.cpu_ns;
    summary.roi_begins = index.header.roi_begins;
    summary.spins = index.header.spins;
    summary.counted_instructions = (index.header.flags & AF_INDEX_COUNTED_INSTRUCTIONS) != 0;
    summary.steady_addresses = (index.header.flags & AF_INDEX_STEADY_ADDRESSES) != 0;
    for (const af_index_stream& record : index.streams)
        summary.streams.push_back(
            {record.parent,
             record.events,
             record.bytes,
             {record.accesses, record.instructions, record.roi_accesses, record.roi_instructions}});
    return summary;
}

}  // namespace autofinity::trace
