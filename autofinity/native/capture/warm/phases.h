// Phases of a region: intervals of its work that are alike in the lines touched, in the time since
// their previous touches, and in the number of instructions. A phase is worth a window as long as
// few windows lie in it: windows that are spread evenly over the work miss stretches where little
// work takes much time.
#pragma once

#include "capture/state/thread.h"

// Makes room. False: there is no memory.
AF_HIDDEN bool af_phases_open(void);
// Ends an interval of so much work. Returns whether a window is worth while now. Not called by two
// threads at once.
AF_HIDDEN bool af_phases_note(const af_interval* interval, uint64_t work);
// Notes that a window was planned because it was worth while: there are not many of these.
AF_HIDDEN void af_phases_planned(void);
// Notes that a window opens in the phase that was noted last.
AF_HIDDEN void af_phases_window(void);
