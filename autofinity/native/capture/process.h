// What the files around the beginning, the threads and the end of a recording share.
#ifndef AUTOFINITY_CAPTURE_PROCESS_H
#define AUTOFINITY_CAPTURE_PROCESS_H

#include <time.h>

#include "record.h"

typedef struct af_process {
    _Atomic int initialised;
    _Atomic uint32_t streams;
    af_thread** threads;  // by number; room for AF_MAX_STREAMS, backed page by page
    struct timespec begin;
    bool steady;   // addresses are the same in every run
    bool counted;  // somebody tells the instructions; otherwise they are estimated
    bool roi_parallel, roi_marks;
    _Atomic int roi_open;
    _Atomic uint64_t roi_begins, roi_ends;
} af_process;

extern AF_HIDDEN af_process af;

// addresses.c
AF_HIDDEN void af_steady_addresses(char** arguments);
// roi.c
AF_HIDDEN void af_whole_begins(void);
AF_HIDDEN void af_roi_settle(af_thread* t);  // the sums of a thread whose end has come
AF_HIDDEN void af_roi_finish(af_thread* t);  // the program ends, in this thread
// streams.c
AF_HIDDEN void af_thread_settle(af_thread* t);  // last event and everything to disk

#endif
