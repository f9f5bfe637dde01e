// Any bytes are a trace or an error that names the file.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bundle.hpp"
#include "trace/trace.hpp"

using namespace autofinity;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static fuzz::Folder folder;
    const std::string& path = folder.hold(fuzz::unpack({data, size}));
    std::uint64_t promised = 0, there = 0;
    try {
        for (const auto& stream : trace::read_summary(path).streams) promised += stream.events;
        const trace::TracePtr read = trace::read_trace(path);
        // Dropped candidates of the region's end are the only events a reader may leave out.
        for (const trace::Stream& stream : read->streams) there += stream.events.size();
    } catch (const trace::TraceError& error) {
        if (std::string_view(error.what()).find(".af") == std::string_view::npos) {
            std::fprintf(stderr, "an error without its file: %s\n", error.what());
            std::abort();
        }
        return 0;
    }
    if (there > promised) std::abort();
    return 0;
}
