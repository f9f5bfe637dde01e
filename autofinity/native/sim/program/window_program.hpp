// A window of a sampled trace as a program.
#pragma once

#include <vector>

#include "program.hpp"
#include "trace/sampled.hpp"

namespace autofinity::sim {

// `pages`: those touched before the window began. `waits`: of each stream, that what it does after
// the window waits for another one; so does one that did nearly nothing in it. Throws
// SimulationError as Program does.
Program window_program(trace::WindowEvents&& window, std::vector<trace::PageRun> pages,
                       const std::vector<bool>& waits);
// Reads one from a sampled trace. Throws TraceError with file, offset and reason, too.
Program window_program(const trace::SampledTrace& trace, std::size_t window);

}  // namespace autofinity::sim
