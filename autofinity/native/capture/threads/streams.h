// The life of a thread's record: one per stream of the trace.
#pragma once

#include "capture/state/thread.h"

// Called before the first thread: whether instructions are counted; otherwise they are estimated.
AF_HIDDEN void af_streams_are_counted(bool counted);
AF_HIDDEN af_thread* af_thread_new(uint32_t parent);  // NULL: failed; the reason was printed
AF_HIDDEN void af_thread_enter(af_thread* t);         // from now on the calling thread is `t`
AF_HIDDEN void af_thread_leave(af_thread* t);         // writes the last event and everything else
// Writes the last event and everything else to disk: called by the thread itself, or by af_finish
// for a stopped thread.
AF_HIDDEN void af_thread_settle(af_thread* t);
AF_HIDDEN af_thread* af_attach(void);  // makes the record of a thread not seen before

// The record in which to note synchronisation, or NULL when the call is not the program's own.
static inline af_thread* af_here(void) {
    af_thread* t = af_self;
    if (AF_UNLIKELY(t == NULL)) t = af_attach();
    return t != NULL && !(t->busy | t->telling) ? t : NULL;
}
