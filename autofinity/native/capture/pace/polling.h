// Loops that wait by reading the same addresses again and again: the same values seen repeatedly,
// with nothing else in between, are a wait. From the fourth time on nothing is recorded, the thread
// yields its time slice, and no instructions are charged.
#pragma once

#include "capture/state/thread.h"

enum { AF_PATIENT_POLLS = 3 };  // repeats that may still be ordinary code

// Position in the recording: grows with every recorded event and with every access that joins an
// open line.
static inline uint64_t af_position(const af_thread* t) {
    return t->base + (uint64_t)(t->next - t->slots) + af_accesses_of(t);
}

// Notes that a load (or a failed attempt) saw `value`. Returns true when this is one more poll that
// is not to be recorded; `*woke` when the value has changed after polling.
AF_HIDDEN bool af_polling(af_thread* t, uintptr_t address, uint64_t value, bool* woke);
// Adds the access that was just recorded for `address` to the window.
AF_HIDDEN void af_polled(af_thread* t, uintptr_t address, uint64_t value);
AF_HIDDEN void af_stop_polling(af_thread* t);  // if the thread does something else by now
AF_HIDDEN void af_end_polling(af_thread* t);
AF_HIDDEN void af_rest(const af_thread* t);
