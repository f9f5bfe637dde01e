// When windows of a sampled capture open and close: by the work of all threads in the region of
// interest.
//
//   region begins ─ lead ─[■]─ spacing ─[■]─ … 32 windows … ─ 2 · spacing ─[■]─ … 16 … ─ 4 · …
//
// So a region of any length has few windows: 32, and 16 more each time that the region is twice as
// long, and some for phases that few of these windows met (warm/phases.h). Each window but the
// first lies at a random place in its part of the work, chosen by a hash of the seed, so that
// windows do not always meet repeated work of the program at the same point.
#pragma once

#include "capture/state/thread.h"

// Reads AUTOFINITY_CAPTURE_SAMPLE before the first thread: SPACING,LENGTH,SEED in accesses of all
// threads. False: the variable has another form.
AF_HIDDEN bool af_cuts_ask(const char* wanted);
// Begins or ends the region of interest. An open window ends with the region.
AF_HIDDEN void af_cuts_region(bool inside);
// Counts the thread's accesses since the last count as work. The thread whose work reaches the next
// cut opens or closes a window.
AF_HIDDEN void af_cuts_count(af_thread* t);
// The region begins: earlier accesses of the thread are not counted as work.
AF_HIDDEN void af_cuts_count_from_now(af_thread* t);

AF_HIDDEN uint32_t af_cuts_windows(void);
AF_HIDDEN af_window af_cuts_window(uint32_t number);
