// The region of interest: marks in the program, its parallel part, or all of it.
#pragma once

#include "capture/state/thread.h"

typedef enum { AF_ROI_MARKS, AF_ROI_PARALLEL, AF_ROI_WHOLE, AF_ROI_NEVER } af_roi_kind;

AF_HIDDEN void af_roi_choose(af_roi_kind kind);
AF_HIDDEN af_roi_kind af_roi_chosen(void);
AF_HIDDEN uint64_t af_roi_count(void);  // how often it has begun

// The region begins or ends, as `t`, the calling thread, says.
AF_HIDDEN void af_roi_begin(af_thread* t);
AF_HIDDEN void af_roi_end(af_thread* t);
// Of ROI "parallel": the calling thread makes a thread or a team; has joined it, or was its master.
AF_HIDDEN void af_parallel_begins(af_thread* t);
AF_HIDDEN void af_parallel_ends(af_thread* t);

AF_HIDDEN void af_roi_enter(af_thread* t);   // the thread begins
AF_HIDDEN void af_roi_settle(af_thread* t);  // the thread's end has come: its sums
AF_HIDDEN void af_roi_finish(af_thread* t);  // the program ends, in this thread
AF_HIDDEN void af_roi_sum_up(void);          // all threads are settled
