// Simulated time between turns: the events that the replay stops for besides turns, and their
// times.
#pragma once

#include <algorithm>

#include "sim/types.hpp"

namespace autofinity::sim {

struct Timetable {
    Ticks now = 0;              // where it stopped last
    Ticks wanted = 0;           // length of the present advance
    Ticks target = forever;     // its end, once the region has begun
    Ticks sample = forever;     // the next of each
    Ticks process = forever;    // start of a process
    Ticks balance = forever;    // of threads that are not bound
    Ticks daemon = forever;     // system thread
    Ticks detection = forever;  // a detector wants to act
    Ticks stop = forever;       // the first of these

    void set_stop() { stop = std::min({target, sample, process, balance, daemon, detection}); }
};

}  // namespace autofinity::sim
