// Reads a whole trace.
#include <algorithm>
#include <utility>

#include "trace/reading.hpp"

namespace autofinity::trace {
namespace {

std::vector<Event> read_stream(const std::string& directory, std::uint32_t number,
                               const af_index_stream& record) {
    const File file = slurp(stream_path(directory, number));
    check_stream_header(file, number, record.parent);
    if (file.size != record.bytes)
        file.fail(std::min<std::uint64_t>(file.size, record.bytes),
                  "the file has " + std::to_string(file.size) + " bytes, the index promises " +
                      std::to_string(record.bytes));
    // The frame comes first: nothing is allocated before the frame is known to be sound.
    const Chunks chunks = find_chunks(file, sizeof(af_stream_header), 0);
    if (chunks.starts.size() != record.chunks || chunks.events != record.events ||
        chunks.crc != record.crc)
        file.fail(file.size, "chunks do not add up to what the index promises");
    return decode_chunks(file, chunks);
}

// The runtime cannot know which join is the last when the ROI is "the parallel part": it offers
// every one as a candidate. Keep the first begin and the candidate with the highest number.
void settle_roi(Trace& trace) {
    std::uint64_t last = 0;
    for (const Stream& stream : trace.streams)
        for (const Event& event : stream.events)
            if (event.kind == Kind::roi_end) last = std::max(last, event.value);
    for (Stream& stream : trace.streams) {
        std::uint32_t carried = 0;  // gap of dropped events, so that time is not lost
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
    if (index.sampled())
        throw TraceError(
            index_path(directory) +
            ": this is a sampled trace: windows of the run were recorded, not all of it; "
            "capture the program with --whole");
    auto trace = std::make_shared<Trace>();
    trace->digest = index.digest;
    const std::vector<StreamTotals> totals = totals_of(index);
    for (std::uint32_t i = 0; i < index.header.streams; i++) {
        const af_index_stream& record = index.streams[i];
        Stream stream;
        stream.parent = record.parent;
        stream.totals = totals[i];
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
    summary.sampled = index.sampled();
    for (const af_index_stream& record : index.streams)
        summary.streams.push_back(
            {record.parent,
             record.events,
             record.bytes,
             {record.accesses, record.instructions, record.roi_accesses, record.roi_instructions}});
    return summary;
}

}  // namespace autofinity::trace
