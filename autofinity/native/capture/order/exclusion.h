// Mutual exclusion on any address: pthread mutexes and spin locks, OpenMP critical sections, locks.
#pragma once

#include "capture/order/locks.h"

// `word`: the address holds a lock word of the program, whose line is touched.
AF_HIDDEN void af_acquired(af_thread* t, uint64_t key, bool word);
AF_HIDDEN void af_releasing(af_thread* t, uint64_t key, bool word);
// Whether the thread has the lock, as far as is known.
AF_HIDDEN bool af_owns(const af_thread* t, uint64_t key);
// The thread ends with locks that it holds.
AF_HIDDEN void af_abandon_held(af_thread* t);
// An attempt on a lock that is held: polled in a loop, it counts as waiting.
AF_HIDDEN void af_attempt_failed(af_thread* t, const volatile void* word);
