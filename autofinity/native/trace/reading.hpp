// Common parts of the readers of whole and of sampled traces. They trust nothing: every count is
// checked against the available bytes before anything is allocated by it, every checksum before
// anything is decoded.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "trace/files.hpp"
#include "trace/trace.hpp"

namespace autofinity::trace {

// `offset` is that in the file.
[[noreturn]] void fail(const std::string& file, std::uint64_t offset, const std::string& reason);

// A file, or a part of it.
struct File {
    std::string path;
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size = 0;
    std::uint64_t begin = 0;  // of the part

    [[noreturn]] void fail(std::size_t at, const std::string& reason) const {
        trace::fail(path, begin + at, reason);
    }
};

File slurp(const std::string& path);
File slurp_part(const std::string& path, std::uint64_t begin, std::uint64_t bytes);

template <typename T>
T take(const File& file, std::size_t offset, const char* what) {
    if (offset > file.size || sizeof(T) > file.size - offset)
        file.fail(offset, std::string("truncated ") + what);
    T value;
    std::memcpy(&value, file.bytes.get() + offset, sizeof value);
    return value;
}

void check_version(const File& file, std::uint32_t version, std::uint32_t known);

struct Index {
    af_index_header header;
    std::vector<af_index_stream> streams;
    std::string digest;

    bool sampled() const { return (header.flags & AF_INDEX_SAMPLED) != 0; }
};

Index read_index(const std::string& directory);
std::vector<StreamTotals> totals_of(const Index& index);

// Consecutive chunks of a stream, each valid in itself.
struct Chunks {
    std::vector<std::size_t> starts;
    std::uint64_t events = 0;
    std::uint32_t crc = 0;  // over their checksums
};

void check_stream_header(const File& file, std::uint32_t number, std::uint32_t parent);
// Chunks from `at` to the end of the file, or of the part; the first has the number `first`.
Chunks find_chunks(const File& file, std::size_t at, std::uint32_t first);
std::vector<Event> decode_chunks(const File& file, const Chunks& chunks);

}  // namespace autofinity::trace
