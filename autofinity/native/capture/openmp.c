// libgomp: teams, barriers, critical sections, loops that are handed out, sections and tasks.
//
// The team's threads run our `run_team` around the program's function. What libgomp does inside is
// quiet; what is recorded is the order that OpenMP promises:
//
//   fork     post ─► await in every other thread          barrier   event of the whole team
//   end      one more real barrier (it runs what tasks are left), then the barrier event
//   critical, atomic, locks                               as mutexes
//   chunks of dynamic and guided loops, sections          units, numbered from the first iteration
//   tasks (aux = 1)                                       units, numbered by creation; creation ─►
//            start, end ─► taskwait, taskgroup end; dependences as edges
//
// A barrier is recorded after the real one, because the thread may run tasks while it waits.
#include "openmp.h"

void af_end_unit(af_thread* t) {
    if (t->unit == 0) return;
    af_event_add(t, AF_UNIT_END, t->unit_value, 0);
    af_forget_awaited(t);
    t->unit = 0;
}

void af_block_at_barrier(af_thread* t, af_team* team, int team_size) {
    if (team == NULL || team_size <= 1) {
        af_block(t);
        return;
    }
    const uint64_t mine = atomic_fetch_add(&team->arrivals, 1), size = (uint64_t)team_size;
    af_block_at(t, &team->arrivals, (mine / size + 1) * size);
    atomic_store_explicit(&t->work, &team->tasks_waiting, memory_order_release);
}

// ------------------------------------------------------------------------------------- teams

static void run_team(void* argument) {
    af_team* team = argument;
    af_thread* t = af_mine != NULL ? af_mine : af_attach();
    if (t == NULL || !af_recording()) {
        team->run(team->data);
        return;
    }
    af_thread* const saved = af_self;
    af_team* const outer_team = t->team;
    const uint64_t outer_share = t->share, outer_unit = t->unit, outer_value = t->unit_value;
    const __typeof__(t->loop) outer_loop = t->loop;
    af_task implicit = {.outer = t->task};
    if (t->parked) af_unblock(t);
    t->parked = false;
    t->team = team;
    const int size = af_team_size(t);
    t->task = &implicit;
    t->share = 0;
    t->unit = 0;
    t->loop.active = false;
    atomic_fetch_add(&team->arrived, 1);
    af_await(t, team->fork_token, team->master);
    if (team->loop.active) {
        af_begin_share(t, &team->loop, size);
    } else if (team->sections != 0) {
        af_begin_sections(t, size);
    }
    af_self = t;
    team->run(team->data);
    af_self = NULL;
    af_end_unit(t);
    if (size > 1) {
        af_block_at_barrier(t, team, size);
        AF_REAL(void, GOMP_barrier, (void))();
        af_unblock(t);
        af_event_add(t, AF_BARRIER, team->barrier, (unsigned)size);
    }
    t->team = outer_team;
    t->task = implicit.outer;
    t->share = outer_share;
    t->unit = outer_unit;
    t->unit_value = outer_value;
    t->loop = outer_loop;
    // The pool's threads now wait for the next region, where nobody shall wait for them.
    if (t != team->master) {
        t->parked = true;
        af_block(t);
    }
    af_self = saved;
}

// Teams are never given back, only used again: others may still look at one through a gate.
static af_team* open_team(af_thread* t, void (*run)(void*), void* data) {
    af_parallel_begins();
    af_team* team = t->spare_teams;
    if (team != NULL)
        t->spare_teams = team->next;
    else
        team = af_alloc(sizeof *team);
    af_thread* const saved = af_quiet();  // this memset is not the program's
    memset(team, 0, sizeof *team);
    af_loud(saved);
    team->run = run;
    team->data = data;
    team->master = t;
    team->fork_token = af_token();
    team->barrier = af_ids(1);
    team->id = af_ids(1);
    team->tasks = af_ids(1024);  // room for 2^30 tasks
    af_event_add(t, AF_POST, team->fork_token, 0);
    return team;
}

static void close_team(af_thread* t, af_team* team) {
    team->next = t->spare_teams;
    t->spare_teams = team;
    if (t->team == NULL) af_parallel_ends();
}

AF_API void GOMP_parallel(void (*run)(void*), void* data, unsigned threads, unsigned flags) {
    void (*real)(void (*)(void*), void*, unsigned, unsigned) =
        AF_REAL(void, GOMP_parallel, (void (*)(void*), void*, unsigned, unsigned));
    af_thread* t = af_here();
    if (t == NULL) {
        real(run, data, threads, flags);
        return;
    }
    af_team* const team = open_team(t, run, data);
    af_thread* const saved = af_quiet();
    real(run_team, team, threads, flags);
    af_loud(saved);
    close_team(t, team);
}

AF_API void GOMP_parallel_sections(void (*run)(void*), void* data, unsigned threads, unsigned count,
                                   unsigned flags) {
    void (*real)(void (*)(void*), void*, unsigned, unsigned, unsigned) = AF_REAL(
        void, GOMP_parallel_sections, (void (*)(void*), void*, unsigned, unsigned, unsigned));
    af_thread* t = af_here();
    if (t == NULL) {
        real(run, data, threads, count, flags);
        return;
    }
    af_team* const team = open_team(t, run, data);
    team->sections = count;
    af_thread* const saved = af_quiet();
    real(run_team, team, threads, count, flags);
    af_loud(saved);
    close_team(t, team);
}

#define PARALLEL_LOOP(name, how)                                                            \
    AF_API void GOMP_parallel_loop_##name(void (*run)(void*), void* data, unsigned threads, \
                                          long start, long end, long step, long chunk,      \
                                          unsigned flags) {                                 \
        __typeof__(&GOMP_parallel_loop_##name) real =                                       \
            AF_REAL(void, GOMP_parallel_loop_##name,                                        \
                    (void (*)(void*), void*, unsigned, long, long, long, long, unsigned));  \
        af_thread* t = af_here();                                                           \
        if (t == NULL) {                                                                    \
            real(run, data, threads, start, end, step, chunk, flags);                       \
            return;                                                                         \
        }                                                                                   \
        af_team* const team = open_team(t, run, data);                                      \
        team->loop = (af_loop){.active = true,                                              \
                               .up = step > 0,                                              \
                               .kind = how,                                                 \
                               .start = (uint64_t)start,                                    \
                               .end = (uint64_t)end,                                        \
                               .step = (uint64_t)step,                                      \
                               .chunk = (uint64_t)chunk};                                   \
        af_thread* const saved = af_quiet();                                                \
        real(run_team, team, threads, start, end, step, chunk, flags);                      \
        af_loud(saved);                                                                     \
        close_team(t, team);                                                                \
    }
PARALLEL_LOOP(static, AF_STATIC)
PARALLEL_LOOP(dynamic, AF_DYNAMIC)
PARALLEL_LOOP(guided, AF_GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, AF_DYNAMIC)
PARALLEL_LOOP(nonmonotonic_guided, AF_GUIDED)

#define PARALLEL_RUNTIME(name)                                                               \
    AF_API void GOMP_parallel_loop_##name(void (*run)(void*), void* data, unsigned threads,  \
                                          long start, long end, long step, unsigned flags) { \
        __typeof__(&GOMP_parallel_loop_##name) real =                                        \
            AF_REAL(void, GOMP_parallel_loop_##name,                                         \
                    (void (*)(void*), void*, unsigned, long, long, long, unsigned));         \
        af_thread* t = af_here();                                                            \
        if (t == NULL) {                                                                     \
            real(run, data, threads, start, end, step, flags);                               \
            return;                                                                          \
        }                                                                                    \
        af_team* const team = open_team(t, run, data);                                       \
        team->loop = (af_loop){.active = true,                                               \
                               .up = step > 0,                                               \
                               .kind = AF_RUNTIME,                                           \
                               .start = (uint64_t)start,                                     \
                               .end = (uint64_t)end,                                         \
                               .step = (uint64_t)step};                                      \
        af_thread* const saved = af_quiet();                                                 \
        real(run_team, team, threads, start, end, step, flags);                              \
        af_loud(saved);                                                                      \
        close_team(t, team);                                                                 \
    }
PARALLEL_RUNTIME(runtime)
PARALLEL_RUNTIME(nonmonotonic_runtime)
PARALLEL_RUNTIME(maybe_nonmonotonic_runtime)

// ---------------------------------------------------------------------------------- barriers

// Closes the open unit, lets the real one happen, then notes the barrier.
#define TEAM_BARRIER(type, name)                                                     \
    AF_API type name(void) {                                                         \
        af_thread* t = af_here();                                                    \
        if (t == NULL) return AF_REAL(type, name, (void))();                         \
        af_end_unit(t);                                                              \
        t->loop.active = false;                                                      \
        af_thread* const saved = af_quiet();                                         \
        const int size = af_team_size(t);                                            \
        af_block_at_barrier(t, t->team, size);                                       \
        TEAM_BARRIER_##type(name) af_unblock(t);                                     \
        af_loud(saved);                                                              \
        if (size > 1) af_event_add(t, AF_BARRIER, t->team->barrier, (unsigned)size); \
        TEAM_RETURN_##type;                                                          \
    }
#define TEAM_BARRIER_void(name) AF_REAL(void, name, (void))();
#define TEAM_BARRIER_bool(name) const bool result = AF_REAL(bool, name, (void))();
#define TEAM_RETURN_void
#define TEAM_RETURN_bool return result
TEAM_BARRIER(void, GOMP_barrier)
TEAM_BARRIER(bool, GOMP_barrier_cancel)
TEAM_BARRIER(void, GOMP_loop_end)
TEAM_BARRIER(bool, GOMP_loop_end_cancel)
TEAM_BARRIER(void, GOMP_sections_end)
TEAM_BARRIER(bool, GOMP_sections_end_cancel)

// A single with copyprivate holds a barrier: one thread meets it in _end, the others in _start.
AF_API void* GOMP_single_copy_start(void) {
    void* (*real)(void) = AF_REAL(void*, GOMP_single_copy_start, (void));
    af_thread* t = af_here();
    if (t == NULL) return real();
    af_thread* const saved = af_quiet();
    af_block(t);
    void* const result = real();
    af_unblock(t);
    af_loud(saved);
    if (result != NULL && t->team != NULL)
        af_event_add(t, AF_BARRIER, t->team->barrier, (unsigned)af_team_size(t));
    return result;
}
AF_API void GOMP_single_copy_end(void* data) {
    void (*real)(void*) = AF_REAL(void, GOMP_single_copy_end, (void*));
    af_thread* t = af_here();
    if (t == NULL) {
        real(data);
        return;
    }
    af_thread* const saved = af_quiet();
    af_block(t);
    real(data);
    af_unblock(t);
    af_loud(saved);
    if (t->team != NULL) af_event_add(t, AF_BARRIER, t->team->barrier, (unsigned)af_team_size(t));
}
