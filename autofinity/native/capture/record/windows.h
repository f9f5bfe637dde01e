// Sampled capture in each thread: the thread notes lines between windows, records in windows, and
// passes from one epoch to the next.
//
// A window of a stream begins with a snapshot of the lines that the thread touched last, and with
// the events of its state: locks that it holds, and units of work that it is in. The window ends
// with the counterparts of these events. A thread that sleeps through a cut passes the cut as it
// wakes, or af_finish does so for the thread; its snapshot is that of the moment it fell asleep.
#pragma once

#include "capture/state/thread.h"

// Four calls: the thread is made; the thread begins, perhaps in a window; its last event is
// written; the thread is gone.
AF_HIDDEN bool af_windows_prepare(af_thread* t);  // false: there is no memory
AF_HIDDEN void af_windows_enter(af_thread* t);
AF_HIDDEN void af_windows_settle(af_thread* t);
AF_HIDDEN void af_windows_leave(af_thread* t);
// Called in the thread's look around.
AF_HIDDEN void af_windows_tick(af_thread* t);

// Notes the accesses in slots that no access can join any more.
AF_HIDDEN void af_warm(af_thread* t);
AF_HIDDEN void af_windows_warm(af_thread* t);  // called by code that has made the thread busy
// Called before an event is added.
AF_HIDDEN void af_windows_event(af_thread* t, uint8_t kind, uint64_t value, unsigned aux);
// Passes the cuts that were made since the thread's last check.
AF_HIDDEN void af_windows_pass(af_thread* t);

// Whether slots are to be encoded (true), or forgotten after their lines are noted.
static inline bool af_in_window(const af_thread* t) { return (t->epoch & 1) != 0; }
