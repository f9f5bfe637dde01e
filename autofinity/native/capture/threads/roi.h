// The region of interest: marks in the program, its parallel part, or the whole program.
#pragma once

#include "capture/state/thread.h"

typedef enum { AF_ROI_MARKS, AF_ROI_PARALLEL, AF_ROI_WHOLE, AF_ROI_NEVER } af_roi_kind;

AF_HIDDEN void af_roi_choose(af_roi_kind kind);
AF_HIDDEN af_roi_kind af_roi_chosen(void);
AF_HIDDEN uint64_t af_roi_count(void);  // number of times that it has begun

// The region begins or ends, as the calling thread `t` asks.
AF_HIDDEN void af_roi_begin(af_thread* t);
AF_HIDDEN void af_roi_end(af_thread* t);
// For the region "parallel": the calling thread makes a thread or a team; it has joined one, or was
// its master.
AF_HIDDEN void af_parallel_begins(af_thread* t);
AF_HIDDEN void af_parallel_ends(af_thread* t);

AF_HIDDEN void af_roi_enter(af_thread* t);   // the thread begins
AF_HIDDEN void af_roi_settle(af_thread* t);  // the thread ends: adds its counts
AF_HIDDEN void af_roi_finish(af_thread* t);  // the program ends, in this thread
AF_HIDDEN void af_roi_sum_up(void);          // called after all threads are settled
