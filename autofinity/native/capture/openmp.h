// What the OpenMP files share: a team and its worksharing constructs.
#ifndef AUTOFINITY_CAPTURE_OPENMP_H
#define AUTOFINITY_CAPTURE_OPENMP_H

#include <string.h>

#include "interpose.h"
#include "objects.h"

enum { AF_STATIC, AF_DYNAMIC, AF_GUIDED, AF_RUNTIME };

typedef struct af_tokens {
    uint64_t* items;
    uint32_t n, room;
    _Atomic int locked;
} af_tokens;

typedef struct af_task {
    struct af_task* outer;
    af_tokens children;
    struct af_group* group;
} af_task;

typedef struct af_group {
    struct af_group* outer;
    af_tokens members;
} af_group;

typedef struct af_team {
    struct af_team* next;  // among those to be used again
    void (*run)(void*);
    void* data;
    af_thread* master;
    uint64_t id;
    uint64_t fork_token;
    uint64_t barrier;  // object of all barriers of the team
    uint64_t tasks;    // instance of its tasks
    _Atomic uint64_t task_count;
    _Atomic int64_t tasks_waiting;  // created and not yet begun
    _Atomic uint64_t arrived;       // threads that have begun the region
    _Atomic uint64_t arrivals;      // at its barriers, all told
    uint64_t ordered_token;
    af_loop loop;       // of a combined parallel loop
    unsigned sections;  // of combined parallel sections
} af_team;

AF_HIDDEN void af_end_unit(af_thread* t);
// The thread has come to a loop that is handed out in chunks; `loop` says how.
AF_HIDDEN void af_begin_share(af_thread* t, const af_loop* loop, int team_size);
AF_HIDDEN void af_begin_sections(af_thread* t, int team_size);
// The thread was given a unit: number `ordinal` of its construct, or the chunk that begins at `at`.
AF_HIDDEN void af_begin_unit(af_thread* t, uint64_t ordinal);
AF_HIDDEN void af_took_chunk(af_thread* t, bool got, uint64_t at);

// Around a wait in one of the team's barriers: af_unblock ends it.
AF_HIDDEN void af_block_at_barrier(af_thread* t, af_team* team, int team_size);

// Waits (not for ever) until the whole team is there: who wakes first would take all the work.
AF_HIDDEN void af_gather(af_thread* t, int team_size);

// Asks libgomp for a share: its answer is `got`.
#define AF_GOT(call)                     \
    af_thread* const saved = af_quiet(); \
    const bool got = call;               \
    af_loud(saved)

// A function of libgomp in which the thread may wait for others, or carry out their tasks.
#define AF_WAITING(name, parameters, arguments, after)            \
    AF_API void name parameters {                                 \
        void(*real) parameters = AF_REAL(void, name, parameters); \
        af_thread* t = af_here();                                 \
        if (t == NULL) {                                          \
            real arguments;                                       \
            return;                                               \
        }                                                         \
        af_thread* const saved = af_quiet();                      \
        af_block(t);                                              \
        real arguments;                                           \
        af_unblock(t);                                            \
        af_loud(saved);                                           \
        after;                                                    \
    }

// Threads of the innermost team the thread is in.
static inline int af_team_size(const af_thread* t) {
    return t->team == NULL ? 1 : AF_QUIETLY(AF_REAL(int, omp_get_num_threads, (void))());
}

#endif
