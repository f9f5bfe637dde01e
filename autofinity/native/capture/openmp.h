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

// Around a wait in one of the team's barriers: af_unblock ends it.
AF_HIDDEN void af_block_at_barrier(af_thread* t, af_team* team, int team_size);

// Waits (not for ever) until the whole team is there: who wakes first would take all the work.
AF_HIDDEN void af_gather(af_thread* t, int team_size);

// Threads of the innermost team the thread is in.
static inline int af_team_size(const af_thread* t) {
    return t->team == NULL ? 1 : AF_QUIETLY(AF_REAL(int, omp_get_num_threads, (void))());
}

#endif
