// Turns: the PU that is due first runs until the horizon set by the others, or until its time slice
// is over.
#pragma once

#include "parts.hpp"

namespace autofinity::sim {

// Takes turns until the timetable's target, or the end of all regions; returns whether the regions
// ended.
bool take_turns(Parts& parts);

}  // namespace autofinity::sim
