// Loops whose chunks libgomp hands out at run time: where each begins, and each next chunk.
#include "openmp.h"

#define LOOP_NEXT(prefix, name, number)                                    \
    AF_API bool GOMP_##prefix##name##_next(number* from, number* to) {     \
        bool (*real)(number*, number*) =                                   \
            AF_REAL(bool, GOMP_##prefix##name##_next, (number*, number*)); \
        af_thread* t = af_here();                                          \
        if (t == NULL) return real(from, to);                              \
        af_end_unit(t);                                                    \
        AF_GOT(real(from, to));                                            \
        af_took_chunk(t, got, (uint64_t)*from);                            \
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
        AF_GOT(real(start, end, step, chunk, from, to));                                          \
        af_took_chunk(t, got, (uint64_t)*from);                                                   \
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
        AF_GOT(real(up, start, end, step, chunk, from, to));                                      \
        af_took_chunk(t, got, *from);                                                             \
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
        AF_GOT(real(start, end, step, from, to));                                                 \
        af_took_chunk(t, got, (uint64_t)*from);                                                   \
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
        AF_GOT(real(up, start, end, step, from, to));                                             \
        af_took_chunk(t, got, *from);                                                             \
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
