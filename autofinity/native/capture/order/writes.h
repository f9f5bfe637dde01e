// The record of the writes to an address: the last write, and its thread.
//
// Every write that orders something is recorded under a lock of its address, so a load knows
// exactly which write it saw.
#pragma once

#include <sched.h>

#include "capture/order/awaiting.h"
#include "capture/order/objects.h"
#include "capture/order/shadow.h"
#include "capture/state/common.h"

static inline bool acquires(int order) {
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

static inline bool releases(int order) {
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

// The state of an address: one word, so that programs with millions of atomics stay quick.
//   bit 0 locked | 1 the last write was a store | 2 watched | 19 bits who wrote | 42 bits token
// Watched: some thread polls the address, so relaxed writes post, too; otherwise no thread could
// await them.
enum { STATE_LOCKED = 1, STATE_STORED = 2, STATE_WATCHED = 4 };
enum { WHO_SHIFT = 3, TOKEN_SHIFT = 22, WHO_MASK = 0x7ffff };

static inline _Atomic uint64_t* word_of(const volatile void* address, int bits) {
    const uint64_t at = (uint64_t)(uintptr_t)address;
    // Bytes and half words share their four bytes with neighbours: each has a record of its own.
    if (bits < 32 || at % 4 != 0)
        return (_Atomic uint64_t*)&af_object_of(at, AF_IS_ATOMIC, sizeof(af_object))->token;
    return af_shadow_word(at);
}

// The lock of an address, until `release`; `t` is the calling thread, or NULL.
static inline uint64_t take(af_thread* t, _Atomic uint64_t* word) {
    if (t != NULL) af_shut(t);
    for (int i = 0;; i++) {
        const uint64_t state = atomic_fetch_or_explicit(word, STATE_LOCKED, memory_order_acquire);
        if (AF_LIKELY(!(state & STATE_LOCKED))) return state;
        if (i > 20) sched_yield();
        if (!af_recording()) return state;  // its thread may have left it (interpose/jumps.c)
    }
}

static inline void release(af_thread* t, _Atomic uint64_t* word, uint64_t state) {
    atomic_store_explicit(word, state, memory_order_release);
    if (t != NULL) af_open(t);
}

typedef struct {
    uint64_t token;  // of the write that was seen, before this operation
    uint32_t who;    // stream that wrote it
    bool stored;
    _Atomic uint64_t* word;
} seen_write;

// State and value of an address that belong together, read without its lock: only writers take the
// lock, so that readers do not pull the word from each other.
#define LOAD_WITH_STATE(load, word, state, value)                                 \
    for (int i = 0;; i++) {                                                       \
        state = atomic_load_explicit(word, memory_order_acquire);                 \
        value = load;                                                             \
        if (AF_LIKELY(!(state & STATE_LOCKED) &&                                  \
                      atomic_load_explicit(word, memory_order_acquire) == state)) \
            break;                                                                \
        if (i > 20) sched_yield();                                                \
    }

static inline void watch(af_thread* t, _Atomic uint64_t* word) {
    if (word == NULL) return;
    const uint64_t state = take(t, word);
    release(t, word, state | STATE_WATCHED);
}

static inline seen_write look(_Atomic uint64_t* word, uint64_t state) {
    return (seen_write){state >> TOKEN_SHIFT, (uint32_t)(state >> WHO_SHIFT) & WHO_MASK,
                        (state & STATE_STORED) != 0, word};
}

static inline void await_write(af_thread* t, seen_write w) {
    if (w.who != t->number) af_await(t, w.token, NULL);
}

static inline seen_write look_at(af_thread* t, _Atomic uint64_t* word) {
    const uint64_t state = take(t, word);
    release(t, word, state);
    return look(word, state);
}

static inline uint64_t will_post(const af_thread* t, uint64_t* state, bool store, int order) {
    if (t == NULL) return 0;
    // A store that releases nothing orders nothing, unless a fence comes before it.
    if (!releases(order) && !(*state & STATE_WATCHED) && !(store && t->fences)) return 0;
    const uint64_t token = af_token();
    *state = (*state & STATE_WATCHED) | token << TOKEN_SHIFT | (uint64_t)t->number << WHO_SHIFT |
             (store ? STATE_STORED : 0);
    return token;
}
