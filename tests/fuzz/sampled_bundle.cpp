#include "sampled_bundle.hpp"

#include <algorithm>
#include <utility>

#include "trace/files.hpp"
#include "trace/sampled_format.h"

namespace autofinity::fuzz {
namespace {

constexpr std::size_t most_bytes = 1 << 16;  // of windows that are made as long as they promise

std::size_t streams_of(const Bundle& bundle) {
    return bundle.files.size() < 3 ? 0 : (bundle.files.size() - 3) / 2;
}

std::uint32_t crc_of(const Bytes& file, std::size_t begin, std::size_t bytes) {
    return af_crc(&trace::crc_table(), 0, file.data() + begin, bytes);
}

void end_with_crc(Bytes& file) {
    if (file.size() < sizeof(std::uint32_t)) return;
    const std::size_t body = file.size() - sizeof(std::uint32_t);
    put(file, body, crc_of(file, 0, body));
}

void seal_head(Bytes& file, std::uint64_t magic, std::uint32_t stream) {
    if (file.size() < sizeof(af_sampled_file)) file.resize(sizeof(af_sampled_file));
    put(file, 0, af_sampled_file{magic, AF_SAMPLED_VERSION, stream});
}

// Where a part of a file is, moved into it; empty where the file has nothing behind its head.
void move_into(const Bytes& file, std::size_t head, std::uint64_t& at, std::uint64_t& bytes) {
    at = std::clamp<std::uint64_t>(at, head, std::max(head, file.size()));
    bytes = std::min<std::uint64_t>(bytes, file.size() > at ? file.size() - at : 0);
}

// Events that the chunks of a part say they have.
std::uint64_t events_of(const Bytes& stream, std::uint64_t at, std::uint64_t bytes) {
    std::uint64_t events = 0;
    af_chunk_header chunk;
    for (const std::uint64_t end = at + bytes; at < end && get(stream, at, chunk);
         at += sizeof chunk + chunk.bytes)
        events += chunk.events;
    return events;
}

void seal_part(af_window_stream& part, const Bytes& stream, const Bytes& snapshots) {
    if (part.chunks_bytes != 0)
        move_into(stream, sizeof(af_stream_header), part.chunks_at, part.chunks_bytes);
    part.events = events_of(stream, part.chunks_at, part.chunks_bytes);
    if (part.events == 0) part.chunks_bytes = 0;
    part.flags &= AF_WINDOW_EXISTS | AF_WINDOW_WAITS;
    if ((part.flags & AF_WINDOW_EXISTS) == 0) part.warm_bytes = 0;
    if (part.warm_bytes == 0) return;
    move_into(snapshots, sizeof(af_sampled_file), part.warm_at, part.warm_bytes);
    part.warm_crc = crc_of(snapshots, part.warm_at, part.warm_bytes);
}

void seal_windows(Bundle& bundle, std::size_t streams) {
    Bytes& file = bundle.files.back();
    af_windows_header header{};
    if (file.size() < sizeof header) file.resize(sizeof header);
    get(file, 0, header);
    header.magic = AF_WINDOWS_MAGIC;
    header.version = AF_SAMPLED_VERSION;
    header.streams = static_cast<std::uint32_t>(streams);
    header.flags &= AF_WINDOWS_SKELETON;
    put(file, 0, header);
    const std::uint64_t window = sizeof(af_window) + streams * sizeof(af_window_stream);
    const std::uint64_t meeting = sizeof(af_meeting_record) + streams * sizeof(std::uint64_t);
    const std::uint64_t promised = sizeof header + header.windows * window +
                                   header.meetings * meeting +
                                   header.intervals * sizeof(af_interval) + sizeof(std::uint32_t);
    if (promised <= most_bytes) file.resize(promised);
    for (std::size_t w = 0; w < header.windows; ++w) {
        for (std::size_t s = 0; s < streams; ++s) {
            const std::size_t at =
                sizeof header + w * window + sizeof(af_window) + s * sizeof(af_window_stream);
            af_window_stream part;
            if (!get(file, at, part)) return;
            seal_part(part, bundle.files[1 + s], bundle.files[1 + streams + s]);
            put(file, at, part);
        }
    }
    end_with_crc(file);
}

}  // namespace

const std::string& hold_sampled(Folder& folder, const Bundle& bundle) {
    const auto streams = static_cast<std::uint32_t>(streams_of(bundle));
    const std::string& path = folder.path();
    std::vector<std::string> paths{trace::index_path(path)};
    for (std::uint32_t s = 0; s < streams; ++s) paths.push_back(trace::stream_path(path, s));
    for (std::uint32_t s = 0; s < streams; ++s) paths.push_back(trace::snapshots_path(path, s));
    paths.push_back(trace::pages_path(path));
    paths.push_back(trace::windows_path(path));
    return folder.hold(bundle, std::move(paths));
}

void seal_sampled(Bundle& bundle) {
    const std::size_t streams = streams_of(bundle);
    if (streams == 0) return;
    const auto first = bundle.files.begin();
    const auto other = first + static_cast<std::ptrdiff_t>(1 + streams);
    Bundle whole{bundle.variant, {first, other}};
    if (whole.files[0].size() < sizeof(af_index_header))
        whole.files[0].resize(sizeof(af_index_header));
    af_index_header header;
    get(whole.files[0], 0, header);
    header.flags |= AF_INDEX_SAMPLED;
    put(whole.files[0], 0, header);
    seal(whole);
    std::move(whole.files.begin(), whole.files.end(), first);
    for (std::size_t s = 0; s < streams; ++s)
        seal_head(bundle.files[1 + streams + s], AF_WARM_MAGIC, static_cast<std::uint32_t>(s));
    Bytes& pages = bundle.files[1 + 2 * streams];
    seal_head(pages, AF_PAGES_MAGIC, 0);
    if (pages.size() < sizeof(af_sampled_file) + sizeof(std::uint32_t))
        pages.resize(sizeof(af_sampled_file) + sizeof(std::uint32_t));
    end_with_crc(pages);
    seal_windows(bundle, streams);
}

}  // namespace autofinity::fuzz
