// A team of OpenMP, its tasks and their groups.
#pragma once

#include "capture/state/thread.h"

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
    struct af_team* next;  // in the list of teams to be used again
    void (*run)(void*);
    void* data;
    af_thread* master;
    uint64_t id;
    uint64_t fork_token;
    uint64_t barrier;  // object of all barriers of the team in the trace
    uint64_t tasks;    // instance of its tasks
    _Atomic uint64_t task_count;
    _Atomic int64_t tasks_waiting;  // tasks that are created and have not yet begun
    _Atomic uint64_t arrived;       // threads that have begun the region
    _Atomic uint64_t arrivals;      // arrivals at its barriers, in total
    uint64_t ordered_token;
    af_loop loop;       // loop of a combined parallel loop
    unsigned sections;  // sections of combined parallel sections
} af_team;
