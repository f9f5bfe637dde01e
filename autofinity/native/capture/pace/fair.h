// Fairness: how far a thread has got beside the others, and who waits for whom meanwhile.
#pragma once

#include "capture/state/thread.h"

AF_HIDDEN void af_fair_enter(af_thread* t);
AF_HIDDEN void af_fair_leave(af_thread* t);
// AF_PERIOD accesses later: waits while the thread is too far ahead.
AF_HIDDEN void af_fair_check(af_thread* t);

// The thread is about to wait for another one, and has waited. They nest.
AF_HIDDEN void af_block(af_thread* t);
AF_HIDDEN void af_unblock(af_thread* t);
// As af_block; it counts again as soon as `*gate` has reached `need`.
AF_HIDDEN void af_block_at(af_thread* t, _Atomic uint64_t* gate, uint64_t need);

AF_HIDDEN void af_sleep(unsigned microseconds);
