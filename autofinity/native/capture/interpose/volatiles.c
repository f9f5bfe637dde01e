// Volatile variables: flags and counters with which threads of older programs signal each other.
//
// A write is a post, and a read awaits the last write of another thread, as if it were an atomic
// store that releases and a load that acquires. Loads of the same value over and over, with nothing
// else in between, are a wait (pace/polling.h): so a flag may be set before or after another thread
// waits for it: a replay keeps the order in both cases.
//
// Instrumented code calls before its access: the value that a poll compares is read here, and a
// write is recorded a little before others can see it. The awaited write may come between our read
// and the program's own, so the next recorded event reads again.
#include "capture/interpose/volatiles.h"

#include "capture/interpose/second_lines.h"
#include "capture/order/writes.h"
#include "capture/pace/fair.h"
#include "capture/pace/polling.h"
#include "capture/threads/streams.h"

enum { SLEEP_EVERY = 16, SLEEP_LESS_AFTER = 100000, SLEEP_LESS_EVERY = 1024, SLEEP_US = 50 };

// Inlined where the size is constant: memcpy itself is one of the recorded functions.
__attribute__((always_inline)) static inline uint64_t value_at(const volatile void* p,
                                                               unsigned size) {
    uint64_t value = 0;
    __builtin_memcpy(&value, (const void*)p, size);
    return value;
}

// Only a short rest: code may well read a constant that was made volatile a million times. The
// thread sleeps and does not yield: on a busy host a thread that has slept runs next.
static void rest_a_little(const af_thread* t) {
    if (t->polls % (t->polls < SLEEP_LESS_AFTER ? SLEEP_EVERY : SLEEP_LESS_EVERY) == 0)
        af_sleep(SLEEP_US);
}

// The thread of a program with one thread waits for no other.
static bool alone(void) {
    return atomic_load_explicit(&af_shared->fair.top, memory_order_relaxed) < 2;
}

static void look_again(af_thread* t) {
    _Atomic uint64_t* const word = t->unsettled;
    if (word == NULL) return;
    af_unsettle(t, NULL, NULL);
    await_write(t, look_at(t, word));
}

static void leave_loop(af_thread* t) {
    look_again(t);
    af_end_polling(t);
}

// From here on every access opens a slot of its own, so that no access is recorded before that
// read.
static void look_again_later(af_thread* t, _Atomic uint64_t* word) {
    af_unsettle(t, word, leave_loop);
    af_close_lines(t);
}

__attribute__((always_inline)) static inline void volatile_read(void* p, unsigned size) {
    af_thread* const t = af_here();
    if (t == NULL) return;
    if (alone() || size > 8) {
        af_access_unaligned(t, (uintptr_t)p, size, false);
        return;
    }
    _Atomic uint64_t* const word = word_of(p, (int)size * 8);
    const uint64_t value = value_at(p, size);
    bool woke;
    look_again(t);
    if (af_polling(t, (uintptr_t)p, value, &woke)) {
        look_again_later(t, word);
        rest_a_little(t);
        return;
    }
    await_write(t, look_at(t, word));
    af_access_unaligned(t, (uintptr_t)p, size, false);
    if (size == 8) t->pointer = value;
    af_polled(t, (uintptr_t)p, value);
    if (t->polls > 0) look_again_later(t, word);
}

static void volatile_write(void* p, unsigned size) {
    af_thread* const t = af_here();
    if (t == NULL) return;
    af_access_unaligned(t, (uintptr_t)p, size, true);
    if (alone() || size > 8) return;
    _Atomic uint64_t* const word = word_of(p, (int)size * 8);
    af_begin_telling(t);
    uint64_t state = take(t, word);
    const uint64_t posted = will_post(t, &state, true, __ATOMIC_RELEASE);
    release(t, word, state);
    af_event_add(t, AF_POST, posted, 0);
    af_end_telling(t);
}

#define VOLATILE(n)                                                                 \
    AF_API void __tsan_volatile_read##n(void* p) { volatile_read(p, n); }           \
    AF_API void __tsan_volatile_write##n(void* p) { volatile_write(p, n); }         \
    AF_API void __tsan_unaligned_volatile_read##n(void* p) { volatile_read(p, n); } \
    AF_API void __tsan_unaligned_volatile_write##n(void* p) { volatile_write(p, n); }
VOLATILE(1)
VOLATILE(2)
VOLATILE(4)
VOLATILE(8)
VOLATILE(16)

void af_volatile_read(void* p, unsigned size) {
    static void (*const by_size[])(void*) = {__tsan_volatile_read1, __tsan_volatile_read2,
                                             __tsan_volatile_read4, __tsan_volatile_read8,
                                             __tsan_volatile_read16};
    by_size[__builtin_ctz(size)](p);
}
void af_volatile_write(void* p, unsigned size) {
    static void (*const by_size[])(void*) = {__tsan_volatile_write1, __tsan_volatile_write2,
                                             __tsan_volatile_write4, __tsan_volatile_write8,
                                             __tsan_volatile_write16};
    by_size[__builtin_ctz(size)](p);
}
