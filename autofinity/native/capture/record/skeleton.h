// The skeleton of a sampled run: all of its events but the accesses, from its beginning to its end,
// as a trace of its own in the folder `skeleton`. It tells who waits for whom and which work could
// be done by anybody; how long what lies between takes, windows tell.
//
//     stream 0   ─[unit 7]────────·──[end 7]──[barrier]──·──────     · how far the region's work
//     stream 1   ──────·───────[barrier]──·─[await 4]───────────       had got (a mark)
#pragma once

#include "capture/state/thread.h"

// Before the first thread. False: it was said why not.
AF_HIDDEN bool af_skeleton_open(void);
// Gives the thread a skeleton. False: there is no memory.
AF_HIDDEN bool af_skeleton_prepare(af_thread* t);
// What is in the slots and not yet in the skeleton, and a mark where one is due.
AF_HIDDEN void af_skeleton_take(af_thread* t);
// What is in the slots now is a window's alone.
static inline void af_skeleton_skip(af_thread* t) { t->sketched = t->next; }
// The thread has ended, and all is taken.
AF_HIDDEN void af_skeleton_settle(af_thread* t);
AF_HIDDEN void af_skeleton_leave(af_thread* t);
// Whether there were too many events: what is there ends somewhere.
AF_HIDDEN bool af_skeleton_given_up(void);
