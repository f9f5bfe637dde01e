// Atomic operations, as instrumented code calls them, and the waiting loops built of them.
//
// Every write is carried out under a lock of its address, so a load knows exactly which write it
// saw. Stores and releasing read-modify-writes post a token; an acquire load of another thread that
// sees one awaits it. The order of read-modify-writes among themselves stays free.
//
// A thread that loads the same values over and over, with nothing else in between, is waiting: from
// the fourth time on it records nothing, yields its time slice, and is charged no instructions.
// When the value changes, one await of the write that changed it is recorded.
#include "capture/interpose/atomics.h"

#include "capture/interpose/after_atomics.h"
#include "capture/threads/streams.h"

typedef unsigned __int128 u128;

// With `t` NULL (quiet, or not recording) the operation is only carried out. Those of 128 bits are
// atomic only because of the lock, but a signal handler's would wait for the lock of its own
// thread.
static inline bool has_lock(const af_thread* t, int bits) {
    return t != NULL || (bits == 128 && (af_mine == NULL || af_mine->busy == 0));
}

#define BEGIN(bits)                                                             \
    af_thread* const t = af_here();                                             \
    if (t != NULL) af_begin_telling(t);                                         \
    _Atomic uint64_t* const word = has_lock(t, bits) ? word_of(p, bits) : NULL; \
    uint64_t state = word != NULL ? take(t, word) : 0;                          \
    const seen_write w = look(word, state);                                     \
    (void)w

// Ends the lock, and where there is no post, all of it; RECORDED comes after the event of the post.
#define END(posted)                            \
    if (word != NULL) release(t, word, state); \
    if (t != NULL && (posted) == 0) af_end_telling(t)
#define RECORDED(posted) \
    if (t != NULL && (posted) != 0) af_end_telling(t)

#define FETCH(bits, type, name, operation)                                                \
    AF_API type __tsan_atomic##bits##_fetch_##name(volatile type* p, type v, int order) { \
        BEGIN(bits);                                                                      \
        const type old = operation;                                                       \
        const uint64_t posted = will_post(t, &state, false, order);                       \
        END(posted);                                                                      \
        if (t != NULL) after_change(t, p, w, order, posted);                              \
        RECORDED(posted);                                                                 \
        return old;                                                                       \
    }

// Code that is not instrumented may use the same address without our lock: so these are real atomic
// instructions where the width allows, in a loop for operations that the hardware lacks.
#define ATOMICS(bits, type)                                                                     \
    AF_API type __tsan_atomic##bits##_load(const volatile type* p, int order) {                 \
        af_thread* const t = af_here();                                                         \
        type value;                                                                             \
        if (t == NULL || !acquires(order)) {                                                    \
            value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                       \
            if (t != NULL) after_relaxed_load(t, p, bits, (uint64_t)value);                     \
            return value;                                                                       \
        }                                                                                       \
        _Atomic uint64_t* const word = word_of(p, bits);                                        \
        uint64_t state;                                                                         \
        LOAD_WITH_STATE(__atomic_load_n(p, __ATOMIC_SEQ_CST), word, state, value)               \
        after_load(t, p, (uint64_t)value, look(word, state));                                   \
        return value;                                                                           \
    }                                                                                           \
    AF_API void __tsan_atomic##bits##_store(volatile type* p, type v, int order) {              \
        BEGIN(bits);                                                                            \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                               \
        const uint64_t posted = will_post(t, &state, true, order);                              \
        END(posted);                                                                            \
        if (t != NULL) {                                                                        \
            af_alone(t, p, 0, 1);                                                               \
            if (posted != 0) af_event_add(t, AF_POST, posted, 0);                               \
        }                                                                                       \
        RECORDED(posted);                                                                       \
    }                                                                                           \
    AF_API type __tsan_atomic##bits##_exchange(volatile type* p, type v, int order) {           \
        BEGIN(bits);                                                                            \
        const type old = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                           \
        const uint64_t posted = old == v ? 0 : will_post(t, &state, false, order);              \
        END(posted);                                                                            \
        if (t != NULL) {                                                                        \
            if (old == v)                                                                       \
                after_attempt(t, p, (uint64_t)old, w, order);                                   \
            else                                                                                \
                after_change(t, p, w, order, posted);                                           \
        }                                                                                       \
        RECORDED(posted);                                                                       \
        return old;                                                                             \
    }                                                                                           \
    FETCH(bits, type, add, __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST))                          \
    FETCH(bits, type, sub, __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST))                          \
    FETCH(bits, type, and, __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST))                          \
    FETCH(bits, type, or, __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST))                            \
    FETCH(bits, type, xor, __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST))                          \
    FETCH(bits, type, nand, __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST))                        \
    static bool compare_exchange##bits(volatile type* p, type* expected, type v, int order,     \
                                       int failure) {                                           \
        BEGIN(bits);                                                                            \
        const bool done = __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST,  \
                                                      __ATOMIC_SEQ_CST);                        \
        const uint64_t posted = done ? will_post(t, &state, false, order) : 0;                  \
        END(posted);                                                                            \
        if (t != NULL) {                                                                        \
            if (done)                                                                           \
                after_change(t, p, w, order, posted);                                           \
            else                                                                                \
                after_attempt(t, p, (uint64_t)*expected, w, failure);                           \
        }                                                                                       \
        RECORDED(posted);                                                                       \
        return done;                                                                            \
    }                                                                                           \
    AF_API int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* c, type v, \
                                                             int order, int failure) {          \
        return compare_exchange##bits(p, c, v, order, failure);                                 \
    }                                                                                           \
    AF_API int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* c, type v,   \
                                                           int order, int failure) {            \
        return compare_exchange##bits(p, c, v, order, failure);                                 \
    }                                                                                           \
    AF_API type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type c, type v,    \
                                                           int order, int failure) {            \
        compare_exchange##bits(p, &c, v, order, failure);                                       \
        return c;                                                                               \
    }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

// 128 bits: instrumented code always comes through here, so the address's lock makes it atomic.
// Polling compares the low half only, which can at most end a wait too late by one value of the
// high half; pointers with counters change both.
static void store128(volatile u128* p, u128 v) { *p = v; }
AF_API u128 __tsan_atomic128_load(const volatile u128* p, int order) {
    BEGIN(128);
    const u128 value = *p;
    END(0);
    const uint64_t seen = (uint64_t)value ^ (uint64_t)(value >> 64);
    if (t != NULL && acquires(order)) after_load(t, p, seen, w);
    if (t != NULL && !acquires(order)) after_relaxed_load(t, p, 128, seen);
    return value;
}
AF_API void __tsan_atomic128_store(volatile u128* p, u128 v, int order) {
    BEGIN(128);
    store128(p, v);
    const uint64_t posted = will_post(t, &state, true, order);
    END(posted);
    if (t != NULL) {
        af_alone(t, p, 0, 1);
        if (posted != 0) af_event_add(t, AF_POST, posted, 0);
    }
    RECORDED(posted);
}
#define CHANGE128(name, expression)                                            \
    AF_API u128 __tsan_atomic128_##name(volatile u128* p, u128 v, int order) { \
        BEGIN(128);                                                            \
        const u128 old = *p;                                                   \
        store128(p, expression);                                               \
        const uint64_t posted = will_post(t, &state, false, order);            \
        END(posted);                                                           \
        if (t != NULL) after_change(t, p, w, order, posted);                   \
        RECORDED(posted);                                                      \
        return old;                                                            \
    }
CHANGE128(exchange, v)
CHANGE128(fetch_add, old + v)
CHANGE128(fetch_sub, old - v)
CHANGE128(fetch_and, old& v)
CHANGE128(fetch_or, old | v)
CHANGE128(fetch_xor, old ^ v)
CHANGE128(fetch_nand, ~(old& v))
AF_API int __tsan_atomic128_compare_exchange_strong(volatile u128* p, u128* c, u128 v, int order,
                                                    int failure) {
    BEGIN(128);
    const u128 old = *p;
    const bool done = old == *c;
    if (done)
        store128(p, v);
    else
        *c = old;
    const uint64_t posted = done ? will_post(t, &state, false, order) : 0;
    END(posted);
    if (t != NULL) {
        if (done)
            after_change(t, p, w, order, posted);
        else
            after_attempt(t, p, (uint64_t)old ^ (uint64_t)(old >> 64), w, failure);
    }
    RECORDED(posted);
    return done;
}
AF_API int __tsan_atomic128_compare_exchange_weak(volatile u128* p, u128* c, u128 v, int order,
                                                  int failure) {
    return __tsan_atomic128_compare_exchange_strong(p, c, v, order, failure);
}
AF_API u128 __tsan_atomic128_compare_exchange_val(volatile u128* p, u128 c, u128 v, int order,
                                                  int failure) {
    __tsan_atomic128_compare_exchange_strong(p, &c, v, order, failure);
    return c;
}

void af_fence(af_thread* t, int order) {
    if (releases(order)) t->fences = true;
    if (!acquires(order)) return;
    for (uint32_t i = 0; i < AF_RELAXED; i++) {
        const uint64_t seen = t->relaxed[t->relaxed_n++ % AF_RELAXED];
        if (seen != 0)
            await_write(t, look_at(t, word_of((const void*)(seen >> 1), seen & 1 ? 8 : 32)));
    }
    for (uint32_t i = 0; i < AF_RELAXED; i++) t->relaxed[i] = 0;
}
// The access right after a fence may be to a flag (access.c); instrumented assembly reports such
// accesses itself.
AF_API void __tsan_atomic_thread_fence(int order) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    af_thread* t = af_here();
    if (t == NULL) return;
    af_fence(t, order);
    t->beside_fence = AF_BESIDE_FENCE;
    af_close_lines(t);
    af_set_limits(t);
}
AF_API void __tsan_atomic_signal_fence(int order) {
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
