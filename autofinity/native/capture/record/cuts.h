// When windows of a sampled capture open and close: by the work of all threads in the region of
// interest.
//
//   region begins ─ lead ─[■]─ spacing ─[■]─ … 32 windows … ─ 2 · spacing ─[■]─ … 16 … ─ 4 · …
//
// So a region of any length has few windows: 32, and 16 more each time that it is twice as long;
// and some for phases that few of these met (warm/phases.h). Each but the first lies anywhere in
// its part of the work, as a hash of the seed says: what the program does again and again is not
// always met at the same point.
#pragma once

#include "capture/state/thread.h"

// Before the first thread, from AUTOFINITY_CAPTURE_SAMPLE: SPACING,LENGTH,SEED in accesses of all
// threads. False: it says something else.
AF_HIDDEN bool af_cuts_ask(const char* wanted);
// The region of interest begins, or ends: an open window, too.
AF_HIDDEN void af_cuts_region(bool inside);
// What the thread has done since it was last counted is work, and whoever does so much opens or
// closes a window.
AF_HIDDEN void af_cuts_count(af_thread* t);
// What it did until now is none: the region begins.
AF_HIDDEN void af_cuts_count_from_now(af_thread* t);

AF_HIDDEN uint32_t af_cuts_windows(void);
AF_HIDDEN af_window af_cuts_window(uint32_t number);
