// Loops and sections that libgomp hands out at run time: each chunk is a unit.
//
// A unit's number is its place in the order of iterations, whoever took it: for dynamic schedules
// the iteration over the chunk size; for guided ones by following libgomp's sequence of sizes; for
// sections their own number. Instances of more than 2^20 units take several numbers.
#include <stdarg.h>

#include "openmp.h"

enum { UNIT_BITS = 20, SCHEDULE_STATIC = 1, SCHEDULE_DYNAMIC = 2, SCHEDULE_GUIDED = 3 };

// All threads of a team meet its worksharing constructs in the same order, so the number of the
// construct within the team names it.
static uint64_t instance_of(af_thread* t, uint64_t units) {
    const uint64_t share = t->share++;
    af_object* o = af_object_of(t->team->id << 24 ^ share, AF_IS_EDGE, sizeof *o);
    af_object_lock(o);
    if (o->token == 0) o->token = af_ids((units >> UNIT_BITS) + 1);
    const uint64_t instance = o->token;
    af_object_unlock(o);
    return instance;
}

static uint64_t iterations(const af_loop* l) {
    if (l->is_unsigned) {
        const uint64_t step = l->up ? l->step : 0 - l->step;
        const uint64_t length = l->up ? l->end - l->start : l->start - l->end;
        return (l->up ? l->start < l->end : l->start > l->end) ? (length - 1) / step + 1 : 0;
    }
    const int64_t start = (int64_t)l->start, end = (int64_t)l->end, step = (int64_t)l->step;
    if (step > 0) return start < end ? (uint64_t)((end - start - 1) / step + 1) : 0;
    return start > end ? (uint64_t)((start - end - 1) / -step + 1) : 0;
}

void af_begin_share(af_thread* t, const af_loop* loop, int team_size) {
    t->loop.active = false;
    if (t->team == NULL) return;
    af_loop made = *loop;
    if (made.kind == AF_RUNTIME) {
        int kind = SCHEDULE_STATIC, chunk = 1;
        AF_REAL(void, omp_get_schedule, (int*, int*))(&kind, &chunk);
        kind &= 0xff;  // without the monotonic modifier
        made.kind = kind == SCHEDULE_DYNAMIC  ? AF_DYNAMIC
                    : kind == SCHEDULE_GUIDED ? AF_GUIDED
                                              : AF_STATIC;
        made.chunk = (uint64_t)(chunk < 1 ? 1 : chunk);
    }
    if (made.chunk == 0) made.chunk = 1;
    made.total = iterations(&made);
    made.instance = instance_of(t, made.total / made.chunk);
    made.team_size = (uint32_t)team_size;
    made.guided_position = made.guided_ordinal = 0;
    made.active = made.kind != AF_STATIC && team_size > 1;
    t->loop = made;
    if (made.active) af_gather(t, team_size);
}

void af_gather(af_thread* t, int team_size) {
    enum { PATIENCE_US = 500000, NAP_US = 50 };
    const uint64_t need = (uint64_t)team_size;
    if (atomic_load(&t->team->arrived) >= need) return;
    af_block_at(t, &t->team->arrived, need);
    for (int waited = 0; waited < PATIENCE_US; waited += NAP_US) {
        if (atomic_load(&t->team->arrived) >= need) break;
        af_sleep(NAP_US);
    }
    af_unblock(t);
}

static void begin_unit(af_thread* t, uint64_t ordinal) {
    t->unit = ordinal + 1;
    t->unit_value = (t->loop.instance << UNIT_BITS) + ordinal;
    af_event_add(t, AF_UNIT_BEGIN, t->unit_value, 0);
    af_forget_awaited(t);
}

// The thread was given the chunk that begins at `at`.
static void took_chunk(af_thread* t, bool got, uint64_t at) {
    af_end_unit(t);
    af_loop* l = &t->loop;
    if (!got || !l->active) return;
    const uint64_t iteration =
        l->is_unsigned ? (l->up ? (at - l->start) / l->step : (l->start - at) / (0 - l->step))
                       : (uint64_t)(((int64_t)at - (int64_t)l->start) / (int64_t)l->step);
    uint64_t ordinal = iteration / l->chunk;
    if (l->kind == AF_GUIDED) {
        while (l->guided_position < iteration) {
            const uint64_t left = l->total - l->guided_position;
            uint64_t size = (left + l->team_size - 1) / l->team_size;
            if (size < l->chunk) size = l->chunk;
            l->guided_position += size < left ? size : left;
            l->guided_ordinal++;
        }
        ordinal = l->guided_ordinal;
    }
    begin_unit(t, ordinal);
}

#define CALL(call)                       \
    af_thread* const saved = af_quiet(); \
    const bool got = call;               \
    af_loud(saved)

#define LOOP_NEXT(prefix, name, number)                                    \
    AF_API bool GOMP_##prefix##name##_next(number* from, number* to) {     \
        bool (*real)(number*, number*) =                                   \
            AF_REAL(bool, GOMP_##prefix##name##_next, (number*, number*)); \
        af_thread* t = af_here();                                          \
        if (t == NULL) return real(from, to);                              \
        af_end_unit(t);                                                    \
        CALL(real(from, to));                                              \
        took_chunk(t, got, (uint64_t)*from);                               \
        return got;                                                        \
    }

#define LOOP(name, how)                                                                           \
    AF_API bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long* from, \
                                         long* to) {                                              \
        bool (*real)(long, long, long, long, long*, long*) =                                      \
            AF_REAL(bool, GOMP_loop_##name##_start, (long, long, long, long, long*, long*));      \
        af_thread* t = af_here();                                                                 \
        if (t == NULL) return real(start, end, step, chunk, from, to);                            \
        const af_loop loop = {.kind = how,                                                        \
                              .up = step > 0,                                                     \
                              .start = (uint64_t)start,                                           \
                              .end = (uint64_t)end,                                               \
                              .step = (uint64_t)step,                                             \
                              .chunk = (uint64_t)chunk};                                          \
        af_begin_share(t, &loop, af_team_size(t));                                                \
        CALL(real(start, end, step, chunk, from, to));                                            \
        took_chunk(t, got, (uint64_t)*from);                                                      \
        return got;                                                                               \
    }                                                                                             \
    LOOP_NEXT(loop_, name, long)                                                                  \
    AF_API bool GOMP_loop_ull_##name##_start(                                                     \
        bool up, unsigned long long start, unsigned long long end, unsigned long long step,       \
        unsigned long long chunk, unsigned long long* from, unsigned long long* to) {             \
        bool (*real)(bool, unsigned long long, unsigned long long, unsigned long long,            \
                     unsigned long long, unsigned long long*, unsigned long long*) =              \
            AF_REAL(bool, GOMP_loop_ull_##name##_start,                                           \
                    (bool, unsigned long long, unsigned long long, unsigned long long,            \
                     unsigned long long, unsigned long long*, unsigned long long*));              \
        af_thread* t = af_here();                                                                 \
        if (t == NULL) return real(up, start, end, step, chunk, from, to);                        \
        const af_loop loop = {.kind = how,                                                        \
                              .up = up,                                                           \
                              .is_unsigned = true,                                                \
                              .start = start,                                                     \
                              .end = end,                                                         \
                              .step = step,                                                       \
                              .chunk = chunk};                                                    \
        af_begin_share(t, &loop, af_team_size(t));                                                \
        CALL(real(up, start, end, step, chunk, from, to));                                        \
        took_chunk(t, got, *from);                                                                \
        return got;                                                                               \
    }                                                                                             \
    LOOP_NEXT(loop_ull_, name, unsigned long long)

#define LOOP_RUNTIME(name)                                                                        \
    AF_API bool GOMP_loop_##name##_start(long start, long end, long step, long* from, long* to) { \
        bool (*real)(long, long, long, long*, long*) =                                            \
            AF_REAL(bool, GOMP_loop_##name##_start, (long, long, long, long*, long*));            \
        af_thread* t = af_here();                                                                 \
        if (t == NULL) return real(start, end, step, from, to);                                   \
        const af_loop loop = {.kind = AF_RUNTIME,                                                 \
                              .up = step > 0,                                                     \
                              .start = (uint64_t)start,                                           \
                              .end = (uint64_t)end,                                               \
                              .step = (uint64_t)step};                                            \
        af_begin_share(t, &loop, af_team_size(t));                                                \
        CALL(real(start, end, step, from, to));                                                   \
        took_chunk(t, got, (uint64_t)*from);                                                      \
        return got;                                                                               \
    }                                                                                             \
    LOOP_NEXT(loop_, name, long)                                                                  \
    AF_API bool GOMP_loop_ull_##name##_start(bool up, unsigned long long start,                   \
                                             unsigned long long end, unsigned long long step,     \
                                             unsigned long long* from, unsigned long long* to) {  \
        bool (*real)(bool, unsigned long long, unsigned long long, unsigned long long,            \
                     unsigned long long*, unsigned long long*) =                                  \
            AF_REAL(bool, GOMP_loop_ull_##name##_start,                                           \
                    (bool, unsigned long long, unsigned long long, unsigned long long,            \
                     unsigned long long*, unsigned long long*));                                  \
        af_thread* t = af_here();                                                                 \
        if (t == NULL) return real(up, start, end, step, from, to);                               \
        const af_loop loop = {.kind = AF_RUNTIME,                                                 \
                              .up = up,                                                           \
                              .is_unsigned = true,                                                \
                              .start = start,                                                     \
                              .end = end,                                                         \
                              .step = step};                                                      \
        af_begin_share(t, &loop, af_team_size(t));                                                \
        CALL(real(up, start, end, step, from, to));                                               \
        took_chunk(t, got, *from);                                                                \
        return got;                                                                               \
    }                                                                                             \
    LOOP_NEXT(loop_ull_, name, unsigned long long)

LOOP(static, AF_STATIC)
LOOP(dynamic, AF_DYNAMIC)
LOOP(guided, AF_GUIDED)
LOOP(nonmonotonic_dynamic, AF_DYNAMIC)
LOOP(nonmonotonic_guided, AF_GUIDED)
LOOP(ordered_static, AF_STATIC)
LOOP(ordered_dynamic, AF_DYNAMIC)
LOOP(ordered_guided, AF_GUIDED)
LOOP_RUNTIME(runtime)
LOOP_RUNTIME(nonmonotonic_runtime)
LOOP_RUNTIME(maybe_nonmonotonic_runtime)
LOOP_RUNTIME(ordered_runtime)

AF_API void GOMP_loop_end_nowait(void) {
    af_thread* t = af_here();
    if (t != NULL) {
        af_end_unit(t);
        t->loop.active = false;
    }
    af_thread* const saved = af_quiet();
    AF_REAL(void, GOMP_loop_end_nowait, (void))();
    af_loud(saved);
}

// --------------------------------------------------------------------------------- sections

void af_begin_sections(af_thread* t, int size) {
    t->loop.active = false;
    if (t->team == NULL) return;
    t->loop.instance = instance_of(t, 1);
    t->loop.active = size > 1;
    if (t->loop.active) af_gather(t, size);
}

static unsigned took_section(af_thread* t, unsigned number) {
    af_end_unit(t);
    if (number != 0 && t->loop.active) begin_unit(t, number - 1);
    return number;
}

AF_API unsigned GOMP_sections_start(unsigned count) {
    unsigned (*real)(unsigned) = AF_REAL(unsigned, GOMP_sections_start, (unsigned));
    af_thread* t = af_here();
    if (t == NULL) return real(count);
    af_begin_sections(t, af_team_size(t));
    af_thread* const saved = af_quiet();
    const unsigned number = real(count);
    af_loud(saved);
    return took_section(t, number);
}
AF_API unsigned GOMP_sections_next(void) {
    unsigned (*real)(void) = AF_REAL(unsigned, GOMP_sections_next, (void));
    af_thread* t = af_here();
    if (t == NULL) return real();
    af_thread* const saved = af_quiet();
    const unsigned number = real();
    af_loud(saved);
    return took_section(t, number);
}
AF_API void GOMP_sections_end_nowait(void) {
    af_thread* t = af_here();
    if (t != NULL) {
        af_end_unit(t);
        t->loop.active = false;
    }
    af_thread* const saved = af_quiet();
    AF_REAL(void, GOMP_sections_end_nowait, (void))();
    af_loud(saved);
}

// --------------------------------------------------------------------------------- doacross
//
// Iterations that wait for others by name: an edge from the post of an iteration to each wait for
// it.

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
        CALL(real arguments);                                                     \
        took_chunk(t, got, (uint64_t)*from);                                      \
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
