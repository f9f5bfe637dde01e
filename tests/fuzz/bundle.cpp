#include "bundle.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "trace/files.hpp"

namespace autofinity::fuzz {
namespace {

constexpr std::size_t most_files = 9;  // an index and eight streams

// Walks the chunks as far as their sizes make sense and returns what the index should say of them.
af_index_stream seal_stream(Bytes& file, std::uint32_t number) {
    af_index_stream record{};
    af_stream_header header;
    if (!get(file, 0, header)) return record;
    header.magic = AF_STREAM_MAGIC;
    header.version = AF_VERSION;
    header.stream = number;
    header.crc = af_crc(&trace::crc_table(), 0, &header, offsetof(af_stream_header, crc));
    put(file, 0, header);
    record.parent = header.parent;
    record.bytes = file.size();
    af_chunk_header chunk;
    for (std::size_t at = sizeof header; get(file, at, chunk); at += sizeof chunk + chunk.bytes) {
        chunk.magic = AF_CHUNK_MAGIC;
        chunk.sequence = record.chunks++;
        const std::size_t left = file.size() - at - sizeof chunk;
        if (chunk.bytes > left || left - chunk.bytes < sizeof chunk)
            chunk.bytes = static_cast<std::uint32_t>(left);
        chunk.crc = af_chunk_crc(&trace::crc_table(), &chunk, file.data() + at + sizeof chunk);
        put(file, at, chunk);
        record.crc = af_crc(&trace::crc_table(), record.crc, &chunk.crc, sizeof chunk.crc);
        record.events += chunk.events;
    }
    return record;
}

}  // namespace

Bundle unpack(std::span<const std::uint8_t> input) {
    Bundle bundle;
    if (input.empty()) return bundle;
    bundle.variant = input[0];
    std::size_t at = 1;
    while (input.size() - at >= sizeof(std::uint32_t) && bundle.files.size() < most_files) {
        std::uint32_t size;
        std::memcpy(&size, input.data() + at, sizeof size);
        at += sizeof size;
        const std::size_t taken = std::min<std::size_t>(size, input.size() - at);
        const auto from = input.begin() + static_cast<std::ptrdiff_t>(at);
        bundle.files.emplace_back(from, from + static_cast<std::ptrdiff_t>(taken));
        at += taken;
    }
    return bundle;
}

Bytes pack(const Bundle& bundle) {
    Bytes bytes{bundle.variant};
    for (const Bytes& file : bundle.files) {
        const auto size = static_cast<std::uint32_t>(file.size());
        const auto* const raw = reinterpret_cast<const std::uint8_t*>(&size);
        bytes.insert(bytes.end(), raw, raw + sizeof size);
        bytes.insert(bytes.end(), file.begin(), file.end());
    }
    return bytes;
}

void seal(Bundle& bundle) {
    if (bundle.files.empty()) return;
    Bytes& index = bundle.files[0];
    const std::size_t streams = bundle.files.size() - 1;
    const std::size_t body = sizeof(af_index_header) + streams * sizeof(af_index_stream);
    index.resize(body + sizeof(std::uint32_t));
    af_index_header header;
    get(index, 0, header);
    header.magic = AF_INDEX_MAGIC;
    header.version = AF_VERSION;
    header.streams = static_cast<std::uint32_t>(streams);
    put(index, 0, header);
    for (std::size_t i = 0; i < streams; ++i) {
        const std::size_t at = sizeof header + i * sizeof(af_index_stream);
        af_index_stream record;
        get(index, at, record);
        const af_index_stream found =
            seal_stream(bundle.files[i + 1], static_cast<std::uint32_t>(i));
        record.parent = found.parent;
        record.chunks = found.chunks;
        record.events = found.events;
        record.bytes = found.bytes;
        record.crc = found.crc;
        put(index, at, record);
    }
    const std::uint32_t crc = af_crc(&trace::crc_table(), 0, index.data(), body);
    std::memcpy(index.data() + body, &crc, sizeof crc);
}

Folder::Folder() {
    const char* const where = std::getenv("TMPDIR");
    path_ = std::string(where == nullptr ? "/tmp" : where) + "/autofinity-fuzz-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr)
        throw std::runtime_error("cannot make a folder: " + path_);
}

Folder::~Folder() {
    clear();
    rmdir(path_.c_str());
}

const std::string& Folder::hold(const Bundle& bundle) {
    std::vector<std::string> paths{trace::index_path(path_)};
    for (std::uint32_t stream = 0; paths.size() < bundle.files.size(); ++stream)
        paths.push_back(trace::stream_path(path_, stream));
    return hold(bundle, std::move(paths));
}

const std::string& Folder::hold(const Bundle& bundle, std::vector<std::string> paths) {
    clear();
    paths_ = std::move(paths);
    for (std::size_t i = 0; i < std::min(paths_.size(), bundle.files.size()); ++i)
        std::ofstream(paths_[i], std::ios::binary)
            .write(reinterpret_cast<const char*>(bundle.files[i].data()),
                   static_cast<std::streamsize>(bundle.files[i].size()));
    return path_;
}

void Folder::clear() {
    for (const std::string& path : paths_) unlink(path.c_str());
    paths_.clear();
}

}  // namespace autofinity::fuzz
