// The skeleton of a sampled run: all of its events but the accesses, from its beginning to its end,
// as a trace of its own in the folder `skeleton`. The skeleton records which threads wait for
// which, and which work any thread could do; windows show how long the work between these events
// takes.
//
//     stream 0   ─[unit 7]────────·──[end 7]──[barrier]──·──────     · how far the region's work
//     stream 1   ──────·───────[barrier]──·─[await 4]───────────       had got (a mark)
#pragma once

#include "capture/state/thread.h"

// Called before the first thread. False: it failed, and the reason was printed.
AF_HIDDEN bool af_skeleton_open(void);
// Gives the thread a skeleton. False: there is no memory.
AF_HIDDEN bool af_skeleton_prepare(af_thread* t);
// Takes the events in slots that the skeleton lacks, and adds a mark where one is due.
AF_HIDDEN void af_skeleton_take(af_thread* t);
// Leaves out the events that are in slots now: they belong to a window alone.
static inline void af_skeleton_skip(af_thread* t) { t->sketched = t->next; }
// Called after the thread's end, when all its events are taken.
AF_HIDDEN void af_skeleton_settle(af_thread* t);
AF_HIDDEN void af_skeleton_leave(af_thread* t);
// Whether there were too many events: then the skeleton ends before the run.
AF_HIDDEN bool af_skeleton_given_up(void);
