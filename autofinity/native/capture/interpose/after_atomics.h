// The records after an atomic operation: the access, the await of an earlier write, and the post
// that lets other threads go on.
#pragma once

#include "capture/order/writes.h"
#include "capture/pace/polling.h"
#include "capture/record/accesses.h"

// The last few addresses that were loaded relaxed: an acquire fence may have to await writes to
// them. The low bit marks bytes and half words.
static inline void remember_relaxed(af_thread* t, const volatile void* p, int bits) {
    t->relaxed[t->relaxed_n++ % AF_RELAXED] = (uintptr_t)p << 1 | (bits < 32);
}

// A relaxed load awaits nothing unless it ends a wait, so it does not need the address's word.
static inline void after_relaxed_load(af_thread* t, const volatile void* p, int bits,
                                      uint64_t value) {
    bool woke;
    const bool again = af_polling(t, (uintptr_t)p, value, &woke);
    if (t->polls == 1) watch(t, word_of(p, bits));
    if (again) {
        af_rest(t);
        return;
    }
    if (woke)
        await_write(t, look_at(t, word_of(p, bits)));
    else
        remember_relaxed(t, p, bits);
    af_alone(t, p, 1, 0);
    af_polled(t, (uintptr_t)p, value);
}

// Whether the thread sees the very value again that it polls for another one of: then it rests, and
// nothing is recorded. Else `woke` says whether this look ends a wait.
static inline bool polls_again(af_thread* t, const volatile void* p, uint64_t value, seen_write w,
                               bool* woke) {
    const bool again = af_polling(t, (uintptr_t)p, value, woke);
    if (t->polls == 1) watch(t, w.word);
    if (again) af_rest(t);
    return again;
}

static inline void after_load(af_thread* t, const volatile void* p, uint64_t value, seen_write w) {
    bool woke;
    if (polls_again(t, p, value, w, &woke)) return;
    await_write(t, w);
    af_alone(t, p, 1, 0);
    af_polled(t, (uintptr_t)p, value);
}

// A read-modify-write that changed nothing (a failed compare-exchange, a lock that was taken).
static inline void after_attempt(af_thread* t, const volatile void* p, uint64_t value, seen_write w,
                                 int order) {
    bool woke;
    if (polls_again(t, p, value, w, &woke)) return;
    if (woke || (acquires(order) && w.stored)) await_write(t, w);
    af_alone(t, p, 1, 1);
    af_polled(t, (uintptr_t)p, value);
}

static inline void after_change(af_thread* t, const volatile void* p, seen_write w, int order,
                                uint64_t posted) {
    af_stop_polling(t);
    const bool waited = t->polls > 0;
    af_end_polling(t);
    if (waited || (acquires(order) && w.stored)) await_write(t, w);
    af_alone(t, p, 1, 1);
    if (posted != 0) af_event_add(t, AF_POST, posted, 0);
}
