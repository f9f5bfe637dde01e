// Loops and sections that libgomp distributes at run time: each chunk is a unit.
#pragma once

#include "capture/interpose/openmp/libgomp.h"
#include "capture/interpose/openmp/tasks.h"

enum { AF_STATIC, AF_DYNAMIC, AF_GUIDED, AF_RUNTIME };

// A loop as the program describes it; `chunk` is 0 where the program gives none.
static inline af_loop af_signed_loop(int kind, long start, long end, long step, long chunk) {
    return (af_loop){.kind = kind,
                     .up = step > 0,
                     .start = (uint64_t)start,
                     .end = (uint64_t)end,
                     .step = (uint64_t)step,
                     .chunk = (uint64_t)chunk};
}

static inline af_loop af_unsigned_loop(int kind, bool up, uint64_t start, uint64_t end,
                                       uint64_t step, uint64_t chunk) {
    return (af_loop){.kind = kind,
                     .up = up,
                     .is_unsigned = true,
                     .start = start,
                     .end = end,
                     .step = step,
                     .chunk = chunk};
}

// Records that the thread has reached a loop whose chunks are distributed, or sections.
AF_HIDDEN void af_begin_share(af_thread* t, const af_loop* loop, int team_size);
AF_HIDDEN void af_begin_sections(af_thread* t, int team_size);
// Records that the thread was given a unit: number `ordinal` of its construct, or the chunk that
// begins at `at`.
AF_HIDDEN void af_begin_unit(af_thread* t, uint64_t ordinal);
AF_HIDDEN void af_took_chunk(af_thread* t, bool got, uint64_t at);
// Ends the unit: the thread asks for the next one, or the construct ends.
AF_HIDDEN void af_end_unit(af_thread* t);
AF_HIDDEN void af_end_share(af_thread* t);

// Defines a function of libgomp that gives the thread a chunk, which begins at `*from`; `before`
// runs first.
#define AF_CHUNK(name, parameters, arguments, before) \
    AF_API bool name parameters {                     \
        __auto_type const real = AF_REAL(name);       \
        af_thread* const t = af_here();               \
        if (t == NULL) return real arguments;         \
        before;                                       \
        bool got;                                     \
        AF_UNHEARD(got = real arguments);             \
        af_took_chunk(t, got, (uint64_t)*from);       \
        return got;                                   \
    }
// Defines a function that gives the first chunk of a `loop`, which is an expression.
#define AF_FIRST_CHUNK(name, parameters, arguments, loop)       \
    AF_CHUNK(name, parameters, arguments, af_loop begun = loop; \
             af_begin_share(t, &begun, af_team_size(t)))
// A schedule as libgomp numbers it, without the modifier of 1 << 31.
static inline int af_schedule(long number) {
    switch (number & 0xff) {
        case 0:
        case 4:
            return AF_RUNTIME;
        case 2:
            return AF_DYNAMIC;
        case 3:
            return AF_GUIDED;
        default:
            return AF_STATIC;
    }
}

// Defines a function that gives the first chunk where tasks or scans take part in the construct's
// reduction. Without `from` the program schedules the loop itself.
#define AF_FIRST_REDUCING_CHUNK(name, parameters, arguments, loop)    \
    AF_API bool name parameters {                                     \
        __auto_type const real = AF_REAL(name);                       \
        af_thread* const t = af_here();                               \
        if (t == NULL) return real arguments;                         \
        if (reductions != NULL) af_begin_reducing(t);                 \
        const af_loop begun = loop;                                   \
        if (from != NULL) af_begin_share(t, &begun, af_team_size(t)); \
        bool got;                                                     \
        AF_UNHEARD(got = real arguments);                             \
        if (from != NULL) af_took_chunk(t, got, (uint64_t)*from);     \
        return got;                                                   \
    }

// Ends a construct without a barrier.
#define AF_NOWAIT(name)                 \
    AF_API void name(void) {            \
        af_thread* const t = af_here(); \
        if (t != NULL) af_end_share(t); \
        AF_UNHEARD(AF_REAL(name)());    \
    }
