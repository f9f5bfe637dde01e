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
    bool counted;  // somebody tells the instructions; otherwise they are estimated
    bool roi_parallel, roi_marks;
    _Atomic int roi_open;
    _Atomic uint64_t roi_begins, roi_ends;
} af_process;

extern AF_HIDDEN af_process af;

AF_HIDDEN void af_roi_close(af_thread* t);        // adds up what the open region held so far
AF_HIDDEN void af_thread_settle(af_thread* t);    // last event and everything to disk
AF_HIDDEN void af_load_blocks(const char* path);  // sets af.counted

#endif
