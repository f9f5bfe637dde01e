// Sampled capture, as each thread goes through it: it notes lines between windows, records in them,
// and passes from one to the other.
//
// A window of a stream begins with a snapshot of the lines that the thread touched last, and with
// the events that say what it is in: locks that it holds, units of work. It ends with their
// counterparts. Who sleeps through a cut passes it as it wakes, or af_finish does so for it; its
// snapshot is that of the moment it fell asleep.
#pragma once

#include "capture/state/thread.h"

// The thread is made; it begins, perhaps in a window; its last event is written; it is gone.
AF_HIDDEN bool af_windows_prepare(af_thread* t);  // false: there is no memory
AF_HIDDEN void af_windows_enter(af_thread* t);
AF_HIDDEN void af_windows_settle(af_thread* t);
AF_HIDDEN void af_windows_leave(af_thread* t);
// Its look around.
AF_HIDDEN void af_windows_tick(af_thread* t);

// Accesses in slots that nothing can join any more are noted.
AF_HIDDEN void af_warm(af_thread* t);
AF_HIDDEN void af_windows_warm(af_thread* t);  // by who has made the thread busy
// An event is about to be added.
AF_HIDDEN void af_windows_event(af_thread* t, uint8_t kind, uint64_t value, unsigned aux);
// Passes the cuts that were made since it looked last.
AF_HIDDEN void af_windows_pass(af_thread* t);

// Whether slots are to be encoded, or forgotten once they are noted.
static inline bool af_in_window(const af_thread* t) { return (t->epoch & 1) != 0; }
