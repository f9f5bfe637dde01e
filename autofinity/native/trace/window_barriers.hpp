// Barriers of a window: who had arrived when it began, and whom nobody is to wait for.
//
// What belongs together is found by letting the streams go on, without time, as far as tokens and
// barriers let them. A generation of a barrier ends when as many have arrived as it is for, or when
// no other stream will. Should all streams wait, the barrier that lacks the fewest lets go who is
// there, and from then on each of its generations is a barrier of its own: so there is an order in
// which all streams come to their ends, whatever was lost.
//
// Whether a stream had arrived before the window began no event says. The capture notes an arrival
// before the thread waits (POSIX, with an atomic access right before) or when it has left (OpenMP):
//
//  · before: a stream that waits when the window ends has the arrival as its last event. All others
//    have passed the same generations; who has passed fewer within the window had arrived at the
//    first one before it.
//  · after: where streams begin with an arrival, those that have one less had left already.
//
// Either is taken only where it leaves fewer arrivals missing than to take nobody as early.
#pragma once

#include "trace/trace.hpp"

namespace autofinity::trace {

// The window is whole in all else: every awaited token is posted.
void mend_barriers(Trace& window);

}  // namespace autofinity::trace
