// Sections, which libgomp distributes one by one.
#include "capture/interpose/openmp/units.h"

// Defines a function of libgomp that gives the thread a section, by its number from 1 on; `before`
// runs first.
#define SECTION(name, parameters, arguments, before)                     \
    AF_API unsigned name parameters {                                    \
        __auto_type const real = AF_REAL(name);                          \
        af_thread* const t = af_here();                                  \
        if (t == NULL) return real arguments;                            \
        before;                                                          \
        unsigned number;                                                 \
        AF_UNHEARD(number = real arguments);                             \
        af_end_unit(t);                                                  \
        if (number != 0 && t->loop.active) af_begin_unit(t, number - 1); \
        return number;                                                   \
    }
SECTION(GOMP_sections_start, (unsigned count), (count), af_begin_sections(t, af_team_size(t)))
SECTION(GOMP_sections2_start, (unsigned count, uintptr_t* reductions, void** memory),
        (count, reductions, memory), if (reductions != NULL) af_begin_reducing(t);
        af_begin_sections(t, af_team_size(t)))
SECTION(GOMP_sections_next, (void), (), (void)0)
AF_NOWAIT(GOMP_sections_end_nowait)
