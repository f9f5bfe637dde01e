// Phases of a region: intervals of its work that are alike in what was touched, how long ago that
// had been touched before, and by how many instructions. A phase is worth a window as long as few
// windows lie in it: where little work takes much time, windows that lie evenly over the work miss
// it.
#pragma once

#include "capture/state/thread.h"

// Makes room. False: there is no memory.
AF_HIDDEN bool af_phases_open(void);
// An interval of so much work is over. Whether a window is worth while now. Called by one at a
// time.
AF_HIDDEN bool af_phases_note(const af_interval* interval, uint64_t work);
// A window opens in the phase that was noted last.
AF_HIDDEN void af_phases_window(void);
