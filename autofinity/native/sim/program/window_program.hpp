// A window of a sampled trace as a program.
#pragma once

#include <vector>

#include "program.hpp"
#include "trace/sampled.hpp"

namespace autofinity::sim {

// `pages`: those touched before the window began. `waits`: for each stream, whether its next action
// after the window waits for another stream, or it did nearly nothing in the window. Throws
// SimulationError as Program does.
Program window_program(trace::WindowEvents&& window, std::vector<trace::PageRun> pages,
                       const std::vector<bool>& waits);
// Reads a window from a sampled trace. Throws TraceError with file, offset and reason, too.
Program window_program(const trace::SampledTrace& trace, std::size_t window);

}  // namespace autofinity::sim
