// The beginning of a window of a longer run: pages that were touched before it, and the lines that
// its streams touched last. Nothing here depends on a machine.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/types.hpp"
#include "trace/sampled.hpp"

namespace autofinity::sim {

// Action of a stream after its events of the window.
enum class After : std::uint8_t {
    nothing,  // it has ended, or has none
    goes_on,  // more, right after: the window is over with it
    waits,    // it waits for another stream
};

// Beginning of a window as captured.
struct WindowStart {
    std::vector<trace::PageRun> pages;              // in order of first touch
    std::vector<std::vector<trace::LineRun>> warm;  // of each stream, newest first
    std::vector<After> after;                       // of each stream
};

// A dense page, and the stream that touched it first.
struct FirstTouch {
    std::uint32_t page, stream;
};

class WarmLine {
  public:
    WarmLine(Line line, std::uint32_t stream, bool written)
        : line_(line), stream_(stream << 1 | written) {}

    Line line() const { return line_; }
    std::uint32_t stream() const { return stream_ >> 1; }
    bool written() const { return (stream_ & 1) != 0; }

  private:
    Line line_;
    std::uint32_t stream_;
};
static_assert(sizeof(WarmLine) == 8);

struct Beginning {
    // Pages that have numbers, and the first page of each 2 MiB with such pages.
    std::vector<FirstTouch> pages;  // in order
    std::vector<WarmLine> lines;    // newest first
    std::vector<After> after;       // of each stream
};

}  // namespace autofinity::sim
