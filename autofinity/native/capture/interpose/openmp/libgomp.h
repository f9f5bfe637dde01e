// Calls of libgomp's functions: accesses inside of them are not the program's.
#pragma once

#include "capture/interpose/interpose.h"

// Functions that are not interposed.
int omp_get_num_threads(void);
void omp_get_schedule(int* kind, int* chunk);

// Number of threads of the thread's innermost team.
static inline int af_team_size(const af_thread* t) {
    return t->team == NULL ? 1 : AF_QUIETLY(AF_REAL(omp_get_num_threads)());
}

// Defines a function in which the thread may wait for others, or carry out their tasks; `after`
// runs at its end.
#define AF_WAITING(name, parameters, arguments, after)          \
    AF_API void name parameters {                               \
        __auto_type const real = AF_REAL(name);                 \
        af_thread* const t = af_here();                         \
        if (t == NULL) {                                        \
            real arguments;                                     \
            return;                                             \
        }                                                       \
        AF_UNHEARD(af_block(t); real arguments; af_unblock(t)); \
        after;                                                  \
    }
