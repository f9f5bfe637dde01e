#include "trace/reading.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace autofinity::trace {

void fail(const std::string& file, std::uint64_t offset, const std::string& reason) {
    throw TraceError("damaged trace: " + file + " at offset " + std::to_string(offset) + ": " +
                     reason + "; capture the program again");
}

namespace {

class Descriptor {
  public:
    explicit Descriptor(const std::string& path)
        : path_(path), number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        if (number_ < 0)
            throw TraceError("cannot read the trace file " + path + ": " + std::strerror(errno) +
                             "; the folder holds no complete trace");
    }
    ~Descriptor() { close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    std::uint64_t size() const {
        struct stat status;
        if (fstat(number_, &status) != 0 || !S_ISREG(status.st_mode))
            throw TraceError("cannot read the trace file " + path_ + ": not a regular file");
        return static_cast<std::uint64_t>(status.st_size);
    }

    File part(std::uint64_t begin, std::uint64_t bytes) const {
        File file{path_, nullptr, bytes, begin};
        file.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(bytes + 1);
        for (std::size_t done = 0; done < file.size;) {
            const ssize_t got = pread(number_, file.bytes.get() + done, file.size - done,
                                      static_cast<off_t>(begin + done));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) file.fail(done, "the file ended or could not be read further");
            done += static_cast<std::size_t>(got);
        }
        return file;
    }

  private:
    std::string path_;
    int number_;
};

}  // namespace

File slurp(const std::string& path) {
    const Descriptor descriptor(path);
    return descriptor.part(0, descriptor.size());
}

File slurp_part(const std::string& path, std::uint64_t begin, std::uint64_t bytes) {
    const Descriptor descriptor(path);
    const std::uint64_t size = descriptor.size();
    if (begin > size || bytes > size - begin)
        fail(path, size,
             "the file ends here, and " + std::to_string(bytes) + " bytes from offset " +
                 std::to_string(begin) + " on were promised");
    return descriptor.part(begin, bytes);
}

// All kinds of file have the version right after their magic.
constexpr std::size_t version_offset = offsetof(af_index_header, version);
static_assert(version_offset == offsetof(af_stream_header, version));

void check_version(const File& file, std::uint32_t version, std::uint32_t known) {
    if (version != known)
        throw TraceError(file.path + " at offset " + std::to_string(version_offset) +
                         ": this is trace format " + std::to_string(version) +
                         ", this autofinity reads " + std::to_string(known) +
                         "; use the autofinity that wrote it or capture again");
}

namespace {

class Hash {  // FNV-1a
  public:
    void add(const std::uint8_t* bytes, std::size_t size) {
        for (std::size_t i = 0; i < size; i++) value_ = (value_ ^ bytes[i]) * 0x100000001b3ull;
    }
    std::string text() const {
        char text[17];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value_));
        return text;
    }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325ull;
};

// The records hold a checksum over every chunk, so a digest of the index (without the times, which
// differ from run to run) stands for the events of the whole trace; of a sampled one, with the
// windows, which hold a checksum of every snapshot, and the pages.
std::string digest_of(const std::string& directory, const File& index, std::size_t body,
                      bool sampled) {
    Hash hash;
    const std::size_t times = offsetof(af_index_header, wall_ns),
                      after = offsetof(af_index_header, roi_begins);
    hash.add(index.bytes.get(), times);
    hash.add(index.bytes.get() + after, body - after);
    if (sampled) {
        for (const std::string& path : {windows_path(directory), pages_path(directory)}) {
            const File file = slurp(path);
            hash.add(file.bytes.get(), file.size);
        }
    }
    return hash.text();
}

}  // namespace

Index read_index(const std::string& directory) {
    const File file = slurp(index_path(directory));
    Index index{take<af_index_header>(file, 0, "header"), {}, {}};
    if (index.header.magic != AF_INDEX_MAGIC) file.fail(0, "this is no trace index");
    check_version(file, index.header.version, AF_VERSION);
    if (index.header.streams == 0 || index.header.streams > AF_MAX_STREAMS)
        file.fail(offsetof(af_index_header, streams), "impossible number of streams");
    const std::size_t body =
        sizeof(af_index_header) + index.header.streams * sizeof(af_index_stream);
    if (file.size != body + sizeof(std::uint32_t))
        file.fail(std::min(file.size, body), "the file has " + std::to_string(file.size) +
                                                 " bytes, its header promises " +
                                                 std::to_string(body + sizeof(std::uint32_t)));
    if (take<std::uint32_t>(file, body, "checksum") !=
        af_crc(&crc_table(), 0, file.bytes.get(), body))
        file.fail(body, "checksum mismatch");
    for (std::uint32_t i = 0; i < index.header.streams; i++)
        index.streams.push_back(take<af_index_stream>(
            file, sizeof(af_index_header) + i * sizeof(af_index_stream), "record"));
    index.digest = digest_of(directory, file, body, index.sampled());
    return index;
}

std::vector<StreamTotals> totals_of(const Index& index) {
    std::vector<StreamTotals> totals;
    for (const af_index_stream& record : index.streams)
        totals.push_back(
            {record.accesses, record.instructions, record.roi_accesses, record.roi_instructions});
    return totals;
}

void check_stream_header(const File& file, std::uint32_t number, std::uint32_t parent) {
    const auto header = take<af_stream_header>(file, 0, "header");
    if (header.magic != AF_STREAM_MAGIC) file.fail(0, "this is no trace stream");
    check_version(file, header.version, AF_VERSION);
    if (header.crc != af_crc(&crc_table(), 0, &header, offsetof(af_stream_header, crc)))
        file.fail(offsetof(af_stream_header, crc), "checksum mismatch");
    if (header.stream != number || header.parent != parent)
        file.fail(offsetof(af_stream_header, stream), "this file is another stream's");
}

Chunks find_chunks(const File& file, std::size_t at, std::uint32_t first) {
    Chunks found;
    while (at < file.size) {
        const auto chunk = take<af_chunk_header>(file, at, "chunk header");
        if (chunk.magic != AF_CHUNK_MAGIC) file.fail(at, "no chunk begins here");
        if (chunk.sequence != first + found.starts.size())
            file.fail(at, "a chunk is missing or doubled");
        if (chunk.bytes > AF_CHUNK_MAX_BYTES || chunk.events > AF_CHUNK_MAX_EVENTS ||
            chunk.bytes > file.size - at - sizeof chunk || chunk.events > 128ull * 8 * chunk.bytes)
            file.fail(at, "truncated chunk or impossible sizes");
        if (chunk.crc != af_chunk_crc(&crc_table(), &chunk, file.bytes.get() + at + sizeof chunk))
            file.fail(at, "checksum mismatch");
        found.crc = af_crc(&crc_table(), found.crc, &chunk.crc, sizeof chunk.crc);
        found.events += chunk.events;
        found.starts.push_back(at);
        at += sizeof chunk + chunk.bytes;
    }
    return found;
}

std::vector<Event> decode_chunks(const File& file, const Chunks& chunks) {
    std::vector<Event> result(chunks.events);
    auto decoder = std::make_unique_for_overwrite<af_decoder>();
    auto* out = reinterpret_cast<af_event*>(result.data());
    for (const std::size_t at : chunks.starts) {
        const auto chunk = take<af_chunk_header>(file, at, "chunk header");
        const std::uint8_t* const payload = file.bytes.get() + at + sizeof chunk;
        if (const auto* wrong =
                af_decode(decoder.get(), payload, payload + chunk.bytes, out, chunk.events))
            file.fail(static_cast<std::size_t>(wrong - file.bytes.get()),
                      "no event is coded like this");
        out += chunk.events;
    }
    return result;
}

}  // namespace autofinity::trace
