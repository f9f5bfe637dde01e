// Barriers of a window: streams that had arrived when it began, and arrivals that are not waited
// for.
//
// Matching arrivals are found by running the streams, without time, as far as tokens and barriers
// permit. A generation of a barrier ends when all its participants have arrived, or when no other
// stream will. If all streams wait, the barrier that lacks the fewest arrivals releases those that
// are there, and from then on each of its generations is a barrier of its own: so there is an order
// in which all streams come to their ends, whatever was lost.
//
// No event shows whether a stream had arrived before the window began. The capture records an
// arrival before the thread waits (POSIX, with an atomic access directly before) or when it has
// left (OpenMP):
//
//  · before: a stream that waits when the window ends has the arrival as its last event. All others
//    have passed the same generations; who has passed fewer within the window had arrived at the
//    first one before it.
//  · after: where streams begin with an arrival, those that have one less had left already.
//
// Either rule is used only where it leaves fewer arrivals missing than without early streams.
#pragma once

#include "trace/trace.hpp"

namespace autofinity::trace {

// The window is complete in all other respects: every awaited token is posted.
void mend_barriers(Trace& window);

}  // namespace autofinity::trace
