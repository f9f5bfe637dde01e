// Whose turn it is: the PU that is due first, until it comes to the horizon that the others set it,
// or its time slice is over.
#pragma once

#include "parts.hpp"

namespace autofinity::sim {

// Until the timetable's target, or the end of all regions: whether it came to that.
bool take_turns(Parts& parts);

}  // namespace autofinity::sim
