// The life of a thread's record: one per stream of the trace.
#pragma once

#include "capture/state/thread.h"

// Before the first: whether somebody tells the instructions; otherwise they are estimated.
AF_HIDDEN void af_streams_are_counted(bool counted);
AF_HIDDEN af_thread* af_thread_new(uint32_t parent);  // NULL: there cannot be one; it was said
AF_HIDDEN void af_thread_enter(af_thread* t);         // the calling thread is `t` from now on
AF_HIDDEN void af_thread_leave(af_thread* t);         // last event, everything written
// Last event and everything to disk: by the thread itself, or by af_finish for one that is stopped.
AF_HIDDEN void af_thread_settle(af_thread* t);
AF_HIDDEN af_thread* af_attach(void);  // makes the record of a thread not seen before

// The record to note synchronisation in, or NULL when the call is not the program's own.
static inline af_thread* af_here(void) {
    af_thread* t = af_self;
    if (AF_UNLIKELY(t == NULL)) t = af_attach();
    return t != NULL && !t->busy ? t : NULL;
}
