// Fairness: the progress of a thread compared with the others, and the waits of threads for each
// other.
#pragma once

#include "capture/state/thread.h"

AF_HIDDEN void af_fair_enter(af_thread* t);
AF_HIDDEN void af_fair_leave(af_thread* t);
// Called after AF_PERIOD accesses: waits while the thread is too far ahead.
AF_HIDDEN void af_fair_check(af_thread* t);

// Called before and after the thread waits for another one. Calls may be nested.
AF_HIDDEN void af_block(af_thread* t);
AF_HIDDEN void af_unblock(af_thread* t);
// As af_block; the thread counts again as soon as `*gate` has reached `need`.
AF_HIDDEN void af_block_at(af_thread* t, _Atomic uint64_t* gate, uint64_t need);

AF_HIDDEN void af_sleep(unsigned microseconds);
