// Loops whose chunks libgomp distributes at run time: their begins, and each next chunk.
#include "capture/interpose/openmp/units.h"

typedef unsigned long long ull;  // as libgomp names it

#define NEXT(name, number) \
    AF_CHUNK(name##_next, (number * from, number * to), (from, to), af_end_unit(t))

#define LOOP(name, how)                                                                    \
    AF_FIRST_CHUNK(GOMP_loop_##name##_start,                                               \
                   (long start, long end, long step, long chunk, long* from, long* to),    \
                   (start, end, step, chunk, from, to),                                    \
                   af_signed_loop(how, start, end, step, chunk))                           \
    AF_FIRST_CHUNK(GOMP_loop_ull_##name##_start,                                           \
                   (bool up, ull start, ull end, ull step, ull chunk, ull* from, ull* to), \
                   (up, start, end, step, chunk, from, to),                                \
                   af_unsigned_loop(how, up, start, end, step, chunk))                     \
    NEXT(GOMP_loop_##name, long)                                                           \
    NEXT(GOMP_loop_ull_##name, ull)

#define LOOP_RUNTIME(name)                                                                         \
    AF_FIRST_CHUNK(GOMP_loop_##name##_start,                                                       \
                   (long start, long end, long step, long* from, long* to),                        \
                   (start, end, step, from, to), af_signed_loop(AF_RUNTIME, start, end, step, 0))  \
    AF_FIRST_CHUNK(                                                                                \
        GOMP_loop_ull_##name##_start, (bool up, ull start, ull end, ull step, ull* from, ull* to), \
        (up, start, end, step, from, to), af_unsigned_loop(AF_RUNTIME, up, start, end, step, 0))   \
    NEXT(GOMP_loop_##name, long)                                                                   \
    NEXT(GOMP_loop_ull_##name, ull)

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

#define REDUCING_LOOP(name)                                                                     \
    AF_FIRST_REDUCING_CHUNK(GOMP_loop_##name,                                                   \
                            (long start, long end, long step, long how, long chunk, long* from, \
                             long* to, uintptr_t* reductions, void** memory),                   \
                            (start, end, step, how, chunk, from, to, reductions, memory),       \
                            af_signed_loop(af_schedule(how), start, end, step, chunk))          \
    AF_FIRST_REDUCING_CHUNK(GOMP_loop_ull_##name,                                               \
                            (bool up, ull start, ull end, ull step, long how, ull chunk,        \
                             ull* from, ull* to, uintptr_t* reductions, void** memory),         \
                            (up, start, end, step, how, chunk, from, to, reductions, memory),   \
                            af_unsigned_loop(af_schedule(how), up, start, end, step, chunk))
REDUCING_LOOP(start)
REDUCING_LOOP(ordered_start)
AF_NOWAIT(GOMP_loop_end_nowait)
