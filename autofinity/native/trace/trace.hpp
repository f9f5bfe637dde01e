// A whole captured program in memory: one vector of events for each stream, and the capture's
// totals. Immutable once built, so that any number of simulations may read it at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace/event.hpp"

namespace autofinity::trace {

// A trace is truncated, altered or from a newer version; the message names file and offset. Becomes
// autofinity.model.errors.TraceError in Python.
class TraceError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Counts of the capture for a stream; zero in a hand-made trace.
struct StreamTotals {
    std::uint64_t accesses = 0;
    std::uint64_t instructions = 0;
    std::uint64_t roi_accesses = 0;
    std::uint64_t roi_instructions = 0;
};

struct Stream {
    std::uint32_t parent = 0;  // stream that created it; its own index for the first stream
    std::vector<Event> events;
    StreamTotals totals = {};
};

struct Trace {
    std::vector<Stream> streams;  // in order of creation; stream 0 is the main thread
    std::string digest;           // of the files it was read from; empty when hand-made
};

using TracePtr = std::shared_ptr<const Trace>;

// Reads a trace directory (see codec.h). Throws TraceError with file, offset and reason when
// anything is truncated, altered or from a newer version: never a silent result.
std::shared_ptr<Trace> read_trace(const std::string& directory);

// Facts from the index alone, without decoding any stream.
struct TraceSummary {
    struct StreamSummary {
        std::uint32_t parent;
        std::uint64_t events;
        std::uint64_t bytes;
        StreamTotals totals;
    };
    std::string digest;
    std::uint64_t wall_ns = 0;
    std::uint64_t cpu_ns = 0;
    std::uint64_t roi_begins = 0;
    std::uint64_t spins = 0;
    bool counted_instructions = false;
    bool steady_addresses = false;
    bool sampled = false;  // events are those of windows only (sampled.hpp)
    std::vector<StreamSummary> streams;
};
TraceSummary read_summary(const std::string& directory);

// Writes `trace` into the existing directory, index last. Throws TraceError when it cannot.
void write_trace(const Trace& trace, const std::string& directory);

}  // namespace autofinity::trace
