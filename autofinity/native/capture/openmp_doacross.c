// Doacross loops: iterations that wait for others by name. An edge from the post of an iteration to
// each wait for it.
#include <stdarg.h>

#include "openmp.h"

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
    o->who = t;
    __atomic_store_n(&o->token, token, __ATOMIC_RELEASE);
}

static void doacross_waited(af_thread* t, const uint64_t* counts) {
    if (t->team == NULL || t->loop.dimensions == 0) return;
    af_object* o = af_object_known(iteration_key(t, counts), AF_IS_ITERATION);
    if (o != NULL) af_await(t, __atomic_load_n(&o->token, __ATOMIC_ACQUIRE), NULL);
}

AF_API void GOMP_doacross_post(long* counts) {
    doacross_posting((const uint64_t*)counts);
    af_thread* const saved = af_quiet();
    AF_REAL(void, GOMP_doacross_post, (long*))(counts);
    af_loud(saved);
}
AF_API void GOMP_doacross_ull_post(unsigned long long* counts) {
    doacross_posting((const uint64_t*)counts);
    af_thread* const saved = af_quiet();
    AF_REAL(void, GOMP_doacross_ull_post, (unsigned long long*))(counts);
    af_loud(saved);
}

enum { DIMENSIONS = 12 };  // as many as are passed on; the call does not say how many there are

#define DOACROSS_WAIT(name, number)                                                              \
    AF_API void name(number first, ...) {                                                        \
        uint64_t c[DIMENSIONS] = {(uint64_t)first};                                              \
        af_thread* t = af_here();                                                                \
        const unsigned n = af_mine != NULL ? af_mine->loop.dimensions : 0;                       \
        va_list rest;                                                                            \
        va_start(rest, first);                                                                   \
        for (unsigned i = 1; i < (n ? n : DIMENSIONS) && i < DIMENSIONS; i++)                    \
            c[i] = (uint64_t)va_arg(rest, number);                                               \
        va_end(rest);                                                                            \
        void (*real)(number, ...) = AF_REAL(void, name, (number, ...));                          \
        af_thread* const saved = af_quiet();                                                     \
        if (t != NULL) af_block(t);                                                              \
        real((number)c[0], (number)c[1], (number)c[2], (number)c[3], (number)c[4], (number)c[5], \
             (number)c[6], (number)c[7], (number)c[8], (number)c[9], (number)c[10],              \
             (number)c[11]);                                                                     \
        if (t != NULL) af_unblock(t);                                                            \
        af_loud(saved);                                                                          \
        if (t != NULL) doacross_waited(t, c);                                                    \
    }
DOACROSS_WAIT(GOMP_doacross_wait, long)
DOACROSS_WAIT(GOMP_doacross_ull_wait, unsigned long long)

// Their chunks count collapsed iterations from 0.
#define DOACROSS(name, how, number, mark, parameters, arguments, chunk_size)      \
    AF_API bool GOMP_loop_##mark##doacross_##name##_start parameters {            \
        bool(*real) parameters =                                                  \
            AF_REAL(bool, GOMP_loop_##mark##doacross_##name##_start, parameters); \
        af_thread* t = af_here();                                                 \
        if (t == NULL) return real arguments;                                     \
        af_loop loop = {.kind = how,                                              \
                        .up = true,                                               \
                        .is_unsigned = true,                                      \
                        .step = 1,                                                \
                        .end = 1,                                                 \
                        .chunk = (uint64_t)(chunk_size),                          \
                        .dimensions = n};                                         \
        for (unsigned i = 0; i < n; i++) loop.end *= (uint64_t)counts[i];         \
        af_begin_share(t, &loop, af_team_size(t));                                \
        AF_GOT(real arguments);                                                   \
        af_took_chunk(t, got, (uint64_t)*from);                                   \
        return got;                                                               \
    }
#define DOACROSS_SIGNED (unsigned n, long* counts, long chunk, long* from, long* to)
#define DOACROSS_UNSIGNED                                                                        \
    (unsigned n, unsigned long long* counts, unsigned long long chunk, unsigned long long* from, \
     unsigned long long* to)
#define DOACROSS_SIGNED_RT (unsigned n, long* counts, long* from, long* to)
#define DOACROSS_UNSIGNED_RT \
    (unsigned n, unsigned long long* counts, unsigned long long* from, unsigned long long* to)
DOACROSS(static, AF_STATIC, long, , DOACROSS_SIGNED, (n, counts, chunk, from, to), chunk)
DOACROSS(dynamic, AF_DYNAMIC, long, , DOACROSS_SIGNED, (n, counts, chunk, from, to), chunk)
DOACROSS(guided, AF_GUIDED, long, , DOACROSS_SIGNED, (n, counts, chunk, from, to), chunk)
DOACROSS(runtime, AF_RUNTIME, long, , DOACROSS_SIGNED_RT, (n, counts, from, to), 0)
DOACROSS(static, AF_STATIC, long, ull_, DOACROSS_UNSIGNED, (n, counts, chunk, from, to), chunk)
DOACROSS(dynamic, AF_DYNAMIC, long, ull_, DOACROSS_UNSIGNED, (n, counts, chunk, from, to), chunk)
DOACROSS(guided, AF_GUIDED, long, ull_, DOACROSS_UNSIGNED, (n, counts, chunk, from, to), chunk)
DOACROSS(runtime, AF_RUNTIME, long, ull_, DOACROSS_UNSIGNED_RT, (n, counts, from, to), 0)
