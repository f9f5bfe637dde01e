// libgomp: teams, barriers, critical sections, loops that are handed out, sections and tasks.
//
// The team's threads run our `run_team` around the program's function. libgomp itself is
// quiet; the order that OpenMP promises is recorded:
//
//   fork     post ─► await in every other thread          barrier   event of the whole team
//   end      one more real barrier (it runs what tasks are left), then the barrier event
//   critical, atomic, locks                               as mutexes
//   chunks of dynamic and guided loops, sections          units, numbered from the first iteration
//   tasks (aux = 1)                                       units, numbered by creation; creation ─►
//            start, end ─► taskwait, taskgroup end; dependences as edges
#include <string.h>

#include "capture/interpose/openmp/barriers.h"
#include "capture/interpose/openmp/units.h"
#include "capture/order/awaiting.h"
#include "capture/record/slots.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"
#include "capture/threads/roi.h"

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
        AF_REAL(GOMP_barrier)();
        af_unblock(t);
        af_passed_barrier(t, team, size);
    }
    t->team = outer_team;
    t->task = implicit.outer;
    t->share = outer_share;
    t->unit = outer_unit;
    t->unit_value = outer_value;
    t->loop = outer_loop;
    // The pool's threads now wait for the next region; during this wait no thread may wait for
    // them.
    if (t != team->master) {
        t->parked = true;
        af_block(t);
    }
    af_self = saved;
}

// Teams are never freed, only reused: other threads may still read one through a gate.
static af_team* open_team(af_thread* t, void (*run)(void*), void* data) {
    af_parallel_begins(t);
    af_team* team = t->spare_teams;
    if (team != NULL)
        t->spare_teams = team->next;
    else
        team = af_alloc(sizeof *team);
    AF_UNHEARD(memset(team, 0, sizeof *team));
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

static void begins_with_loop(af_team* team, af_loop loop) {
    team->loop = loop;
    team->loop.active = true;
}

static void close_team(af_thread* t, af_team* team) {
    team->next = t->spare_teams;
    t->spare_teams = team;
    if (t->team == NULL) af_parallel_ends(t);
}

// Defines a function of libgomp that runs `run` with `data` in a team: our function, around the
// program's. `describe` sets the initial state of the `team`.
#define PARALLEL(name, parameters, arguments, describe) \
    AF_API void name parameters {                       \
        __auto_type const real = AF_REAL(name);         \
        af_thread* const t = af_here();                 \
        if (t == NULL) {                                \
            real arguments;                             \
            return;                                     \
        }                                               \
        af_team* const team = open_team(t, run, data);  \
        describe;                                       \
        run = run_team;                                 \
        data = team;                                    \
        AF_UNHEARD(real arguments);                     \
        close_team(t, team);                            \
    }

PARALLEL(GOMP_parallel, (void (*run)(void*), void* data, unsigned threads, unsigned flags),
         (run, data, threads, flags), (void)0)
PARALLEL(GOMP_parallel_sections,
         (void (*run)(void*), void* data, unsigned threads, unsigned count, unsigned flags),
         (run, data, threads, count, flags), team->sections = count)

#define PARALLEL_LOOP(name, how)                                                                 \
    PARALLEL(GOMP_parallel_loop_##name,                                                          \
             (void (*run)(void*), void* data, unsigned threads, long start, long end, long step, \
              long chunk, unsigned flags),                                                       \
             (run, data, threads, start, end, step, chunk, flags),                               \
             begins_with_loop(team, af_signed_loop(how, start, end, step, chunk)))
PARALLEL_LOOP(static, AF_STATIC)
PARALLEL_LOOP(dynamic, AF_DYNAMIC)
PARALLEL_LOOP(guided, AF_GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, AF_DYNAMIC)
PARALLEL_LOOP(nonmonotonic_guided, AF_GUIDED)

#define PARALLEL_RUNTIME(name)                                                                   \
    PARALLEL(GOMP_parallel_loop_##name,                                                          \
             (void (*run)(void*), void* data, unsigned threads, long start, long end, long step, \
              unsigned flags),                                                                   \
             (run, data, threads, start, end, step, flags),                                      \
             begins_with_loop(team, af_signed_loop(AF_RUNTIME, start, end, step, 0)))
PARALLEL_RUNTIME(runtime)
PARALLEL_RUNTIME(nonmonotonic_runtime)
PARALLEL_RUNTIME(maybe_nonmonotonic_runtime)

// libgomp reads the reductions of the team's tasks from the data, by a pointer in its first word.
typedef struct {
    void* reductions;
    af_team* team;
} reducing;

static void run_reducing_team(void* argument) { run_team(((reducing*)argument)->team); }

AF_API unsigned GOMP_parallel_reductions(void (*run)(void*), void* data, unsigned threads,
                                         unsigned flags) {
    __auto_type const real = AF_REAL(GOMP_parallel_reductions);
    af_thread* const t = af_here();
    if (t == NULL) return real(run, data, threads, flags);
    reducing all = {*(void**)data, open_team(t, run, data)};
    unsigned size;
    AF_UNHEARD(size = real(run_reducing_team, &all, threads, flags));
    close_team(t, all.team);
    return size;
}
