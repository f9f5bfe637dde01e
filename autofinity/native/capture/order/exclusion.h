// Mutual exclusion on any address: pthread mutexes and spin locks, OpenMP critical sections, locks.
#pragma once

#include "capture/order/locks.h"

// Records that the thread has taken the lock. `word`: the address holds a lock word of the program,
// whose line is touched.
AF_HIDDEN void af_acquired(af_thread* t, uint64_t key, bool word);
AF_HIDDEN void af_releasing(af_thread* t, uint64_t key, bool word);
// Whether the thread has the lock, as far as the runtime knows.
AF_HIDDEN bool af_owns(const af_thread* t, uint64_t key);
// Releases the locks that a thread still holds at its end.
AF_HIDDEN void af_abandon_held(af_thread* t);
// Records an attempt on a lock that is held: polled in a loop, the attempt counts as waiting.
AF_HIDDEN void af_attempt_failed(af_thread* t, const volatile void* word);
