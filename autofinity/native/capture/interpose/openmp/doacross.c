// Doacross loops: iterations that wait for other iterations by number. There is an edge from the
// post of an iteration to each wait for it.
#include <stdarg.h>

#include "capture/interpose/openmp/units.h"
#include "capture/order/awaiting.h"
#include "capture/order/objects.h"
#include "capture/record/slots.h"
#include "capture/state/common.h"

typedef unsigned long long ull;  // as libgomp names it

static uint64_t iteration_key(const af_thread* t, const uint64_t* counts) {
    uint64_t key = t->loop.instance * 0x9e3779b97f4a7c15ull;
    for (unsigned i = 0; i < t->loop.dimensions; i++)
        key = (key ^ counts[i]) * 0xff51afd7ed558ccdull + (key >> 29);
    return key;
}

static void doacross_posting(const uint64_t* counts) {
    af_thread* t = af_here();
    if (t == NULL || t->team == NULL || t->loop.dimensions == 0) return;
    af_object* o = af_object_of(iteration_key(t, counts), AF_IS_ITERATION, sizeof *o);
    const uint64_t token = af_token();
    af_event_add(t, AF_POST, token, 0);
    __atomic_store_n(&o->token, token, __ATOMIC_RELEASE);
}

static void doacross_waited(af_thread* t, const uint64_t* counts) {
    if (t->team == NULL || t->loop.dimensions == 0) return;
    af_object* o = af_object_known(iteration_key(t, counts), AF_IS_ITERATION);
    if (o != NULL) af_await(t, __atomic_load_n(&o->token, __ATOMIC_ACQUIRE), NULL);
}

#define POST(name, number)                         \
    AF_API void name(number* counts) {             \
        doacross_posting((const uint64_t*)counts); \
        AF_UNHEARD(AF_REAL(name)(counts));         \
    }
POST(GOMP_doacross_post, long)
POST(GOMP_doacross_ull_post, ull)

enum { DIMENSIONS = 12 };  // as many as are passed on; the call does not contain their number

#define WAIT(name, number)                                                                   \
    AF_API void name(number first, ...) {                                                    \
        uint64_t c[DIMENSIONS] = {(uint64_t)first};                                          \
        af_thread* const t = af_here();                                                      \
        const unsigned n = af_mine != NULL ? af_mine->loop.dimensions : 0;                   \
        va_list rest;                                                                        \
        va_start(rest, first);                                                               \
        for (unsigned i = 1; i < (n ? n : DIMENSIONS) && i < DIMENSIONS; i++)                \
            c[i] = (uint64_t)va_arg(rest, number);                                           \
        va_end(rest);                                                                        \
        if (t != NULL) af_block(t);                                                          \
        AF_UNHEARD(AF_REAL(name)((number)c[0], (number)c[1], (number)c[2], (number)c[3],     \
                                 (number)c[4], (number)c[5], (number)c[6], (number)c[7],     \
                                 (number)c[8], (number)c[9], (number)c[10], (number)c[11])); \
        if (t != NULL) af_unblock(t);                                                        \
        if (t != NULL) doacross_waited(t, c);                                                \
    }
WAIT(GOMP_doacross_wait, long)
WAIT(GOMP_doacross_ull_wait, ull)

// Chunks of these loops count collapsed iterations from 0.
static af_loop collapsed(int kind, unsigned n, const uint64_t* counts, uint64_t chunk) {
    af_loop loop = af_unsigned_loop(kind, true, 0, 1, 1, chunk);
    loop.dimensions = n;
    for (unsigned i = 0; i < n; i++) loop.end *= counts[i];
    return loop;
}

#define LOOP(prefix, name, how, number)                                                  \
    AF_FIRST_CHUNK(prefix##_doacross_##name##_start,                                     \
                   (unsigned n, number* counts, number chunk, number* from, number* to), \
                   (n, counts, chunk, from, to),                                         \
                   collapsed(how, n, (const uint64_t*)counts, (uint64_t)chunk))
#define LOOP_RUNTIME(prefix, number)                                                              \
    AF_FIRST_CHUNK(prefix##_doacross_runtime_start,                                               \
                   (unsigned n, number* counts, number* from, number* to), (n, counts, from, to), \
                   collapsed(AF_RUNTIME, n, (const uint64_t*)counts, 0))
#define LOOPS(prefix, number)                 \
    LOOP(prefix, static, AF_STATIC, number)   \
    LOOP(prefix, dynamic, AF_DYNAMIC, number) \
    LOOP(prefix, guided, AF_GUIDED, number)   \
    LOOP_RUNTIME(prefix, number)
LOOPS(GOMP_loop, long)
LOOPS(GOMP_loop_ull, ull)

#define REDUCING_LOOP(prefix, number)                                                  \
    AF_FIRST_REDUCING_CHUNK(                                                           \
        prefix##_doacross_start,                                                       \
        (unsigned n, number* counts, long how, number chunk, number* from, number* to, \
         uintptr_t* reductions, void** memory),                                        \
        (n, counts, how, chunk, from, to, reductions, memory),                         \
        collapsed(af_schedule(how), n, (const uint64_t*)counts, (uint64_t)chunk))
REDUCING_LOOP(GOMP_loop, long)
REDUCING_LOOP(GOMP_loop_ull, ull)
