// Writes a trace that is in memory (hand-made ones; the capture runtime has its own writer in C
// over the same codec).
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "trace/files.hpp"
#include "trace/trace.hpp"

namespace autofinity::trace {
namespace {

void put(std::ofstream& out, const void* data, std::size_t size) {
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

[[noreturn]] void fail(const std::string& path) {
    throw TraceError("cannot write the trace file " + path + ": " + std::strerror(errno));
}

af_index_stream write_stream(const Stream& stream, std::uint32_t number, const std::string& path) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    if (!out) fail(path);
    af_stream_header header{AF_STREAM_MAGIC, AF_VERSION, number, stream.parent, 0};
    header.crc = af_crc(&crc_table(), 0, &header, offsetof(af_stream_header, crc));
    put(out, &header, sizeof header);

    af_index_stream record{};
    record.parent = stream.parent;
    record.events = stream.events.size();
    record.bytes = sizeof header;
    const bool counted = stream.totals.instructions != 0;
    record.accesses = stream.totals.accesses;
    record.instructions = stream.totals.instructions;
    record.roi_accesses = stream.totals.roi_accesses;
    record.roi_instructions = stream.totals.roi_instructions;

    auto encoder = std::make_unique_for_overwrite<af_encoder>();
    std::vector<std::uint8_t> payload(AF_PAYLOAD_BYTES);
    af_encoder_reset(encoder.get());
    const auto seal = [&] {
        if (encoder->events == 0) return;
        const std::uint8_t* const end = af_pack(encoder.get(), payload.data());
        af_chunk_header chunk{AF_CHUNK_MAGIC, record.chunks++, encoder->events,
                              static_cast<std::uint32_t>(end - payload.data()), 0};
        chunk.crc = af_chunk_crc(&crc_table(), &chunk, payload.data());
        record.crc = af_crc(&crc_table(), record.crc, &chunk.crc, sizeof chunk.crc);
        put(out, &chunk, sizeof chunk);
        put(out, payload.data(), chunk.bytes);
        record.bytes += sizeof chunk + chunk.bytes;
        af_encoder_reset(encoder.get());
    };
    for (const Event& event : stream.events) {
        af_event coded;
        std::memcpy(&coded, &event, sizeof coded);
        af_encode(encoder.get(), &coded);
        if (af_encoder_full(encoder.get())) seal();
        if (!counted) {
            record.instructions += event.gap;
            if (event.kind == Kind::access) record.accesses += event.reads + event.writes;
        }
    }
    seal();
    out.close();
    if (!out) fail(path);
    return record;
}

}  // namespace

void write_trace(const Trace& trace, const std::string& directory) {
    if (trace.streams.empty()) throw TraceError("a trace needs at least one stream to be written");
    af_index_header header{};
    header.magic = AF_INDEX_MAGIC;
    header.version = AF_VERSION;
    header.streams = static_cast<std::uint32_t>(trace.streams.size());
    std::vector<af_index_stream> records;
    for (std::uint32_t i = 0; i < header.streams; i++) {
        records.push_back(write_stream(trace.streams[i], i, stream_path(directory, i)));
        for (const Event& event : trace.streams[i].events)
            header.roi_begins += event.kind == Kind::roi_begin;
    }
    const std::string path = index_path(directory);
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    if (!out) fail(path);
    put(out, &header, sizeof header);
    put(out, records.data(), records.size() * sizeof(af_index_stream));
    std::uint32_t crc = af_crc(&crc_table(), 0, &header, sizeof header);
    crc = af_crc(&crc_table(), crc, records.data(), records.size() * sizeof(af_index_stream));
    put(out, &crc, sizeof crc);
    out.close();
    if (!out) fail(path);
}

}  // namespace autofinity::trace
