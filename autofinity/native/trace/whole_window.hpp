// Makes a window of a sampled trace one that can be replayed by itself.
//
// A cut through all threads leaves halves: awaits whose post was before, sections of locks and work
// units with only an end, or only a beginning, and barriers at which some threads had already
// arrived. In a whole window
//
//  · each awaited token is posted, each lock and unit that begins ends;
//  · a thread that had arrived at a barrier when the window began arrives there first; other
//    arrivals that are missing nobody waits for (window_barriers.hpp);
//  · work units of which the window lacks the beginning, or the creation, are plain code of the
//    thread that was captured with them;
//  · the region of interest has no marks: all of the window is of it.
//
// The instructions of removed events stay, as an event that computes. The replay of a whole window
// comes to the end of all its streams.
#pragma once

#include "trace/trace.hpp"

namespace autofinity::trace {

Trace whole_window(const Trace& recorded);

}  // namespace autofinity::trace
