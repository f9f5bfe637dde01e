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

// Lies before the data of a task; the first two words are where libgomp writes a taskloop's range.
typedef struct af_task_head {
    long range[2];
    void (*run)(void*);
    af_team* team;
    af_group* group;
    uint64_t unit, created, done;
    uint64_t* waits;
    uint32_t waits_n;
    uint32_t offset;  // of the data
    bool loop;
} af_task_head;

static void add_token(af_tokens* list, uint64_t token) {
    while (atomic_exchange_explicit(&list->locked, 1, memory_order_acquire)) af_sleep(1);
    if (list->n == list->room) {
        const uint32_t room = list->room ? list->room * 2 : 8;
        uint64_t* items = af_alloc(room * sizeof *items);
        for (uint32_t i = 0; i < list->n; i++) items[i] = list->items[i];
        list->items = items;
        list->room = room;
    }
    list->items[list->n++] = token;
    atomic_store_explicit(&list->locked, 0, memory_order_release);
}

static void await_all(af_thread* t, af_tokens* list) {
    for (uint32_t i = 0; i < list->n; i++) af_await(t, list->items[i], NULL);
    list->n = 0;
}

static int team_size(void) { return AF_REAL(int, omp_get_num_threads, (void))(); }

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
    const int size = team_size();
    t->team = team;
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
        const int size = t->team != NULL ? team_size() : 1;                          \
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
        af_event_add(t, AF_BARRIER, t->team->barrier, (unsigned)team_size());
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
    if (t->team != NULL) af_event_add(t, AF_BARRIER, t->team->barrier, (unsigned)team_size());
}

// ------------------------------------------------------------------- critical sections and locks

// The locks of unnamed critical and of atomic live inside libgomp; these stand for their lines.
static struct {
    _Alignas(64) char line[64];
} critical_word, atomic_word;

#define EXCLUSION(start, end, parameters, arguments, word)                 \
    AF_API void start parameters {                                         \
        void(*real) parameters = AF_REAL(void, start, parameters);         \
        af_thread* t = af_here();                                          \
        if (t == NULL) {                                                   \
            real arguments;                                                \
            return;                                                        \
        }                                                                  \
        af_thread* const saved = af_quiet();                               \
        af_block(t);                                                       \
        real arguments;                                                    \
        af_unblock(t);                                                     \
        af_loud(saved);                                                    \
        af_acquired(t, (uint64_t)(uintptr_t)(word), true);                 \
    }                                                                      \
    AF_API void end parameters {                                           \
        af_thread* t = af_here();                                          \
        if (t != NULL) af_releasing(t, (uint64_t)(uintptr_t)(word), true); \
        AF_REAL(void, end, parameters) arguments;                          \
    }
EXCLUSION(GOMP_critical_start, GOMP_critical_end, (void), (), &critical_word)
EXCLUSION(GOMP_critical_name_start, GOMP_critical_name_end, (void** p), (p), p)
EXCLUSION(GOMP_atomic_start, GOMP_atomic_end, (void), (), &atomic_word)
EXCLUSION(omp_set_lock, omp_unset_lock, (void* p), (p), p)
EXCLUSION(omp_set_nest_lock, omp_unset_nest_lock, (void* p), (p), p)
EXCLUSION(omp_set_lock_, omp_unset_lock_, (void* p), (p), p)
EXCLUSION(omp_set_nest_lock_, omp_unset_nest_lock_, (void* p), (p), p)

#define TESTING(name)                                     \
    AF_API int name(void* p) {                            \
        const int got = AF_REAL(int, name, (void*))(p);   \
        af_thread* t = af_here();                         \
        if (t != NULL && got)                             \
            af_acquired(t, (uint64_t)(uintptr_t)p, true); \
        else if (t != NULL)                               \
            af_attempt_failed(t, p);                      \
        return got;                                       \
    }
TESTING(omp_test_lock)
TESTING(omp_test_nest_lock)
TESTING(omp_test_lock_)
TESTING(omp_test_nest_lock_)

AF_API void GOMP_ordered_start(void) {
    void (*real)(void) = AF_REAL(void, GOMP_ordered_start, (void));
    af_thread* t = af_here();
    if (t == NULL) {
        real();
        return;
    }
    af_thread* const saved = af_quiet();
    af_block(t);
    real();
    af_unblock(t);
    af_loud(saved);
    if (t->team != NULL) af_await(t, t->team->ordered_token, NULL);
}
AF_API void GOMP_ordered_end(void) {
    af_thread* t = af_here();
    if (t != NULL && t->team != NULL) {
        const uint64_t token = af_token();
        af_event_add(t, AF_POST, token, 0);
        t->team->ordered_token = token;
    }
    AF_REAL(void, GOMP_ordered_end, (void))();
}

// ------------------------------------------------------------------------------------- tasks

static void* data_of(af_task_head* head) { return (char*)head + head->offset; }

static void run_task(void* argument) {
    af_task_head* head = argument;
    void* const data = data_of(head);
    if (head->loop) {
        ((long*)data)[0] = head->range[0];
        ((long*)data)[1] = head->range[1];
    }
    af_thread* t = af_mine;
    if (t == NULL || !af_recording()) {
        head->run(data);
        return;
    }
    af_thread* const saved = af_self;
    af_task task = {.outer = t->task, .group = head->group};
    af_team* const outer_team = t->team;
    const uint64_t outer_unit = t->unit, outer_value = t->unit_value;
    const __typeof__(t->loop) outer_loop = t->loop;
    // It is called while the thread waits in a barrier or a taskwait: now it runs.
    const int blocked = atomic_load(&t->blocked);
    const __typeof__(t->gate) gate = atomic_load(&t->gate);
    const __typeof__(t->work) work = atomic_load(&t->work);
    if (head->team != NULL) atomic_fetch_sub(&head->team->tasks_waiting, 1);
    if (blocked > 0) {
        atomic_store(&t->blocked, 1);
        af_unblock(t);
    }
    t->task = &task;
    t->team = head->team;
    t->unit = 0;
    t->loop.active = false;
    const uint64_t unit = head->unit, done = head->done;
    af_event_add(t, AF_UNIT_BEGIN, unit, 1);
    af_forget_awaited(t);
    af_await(t, head->created, NULL);
    for (uint32_t i = 0; i < head->waits_n; i++) af_await(t, head->waits[i], NULL);
    af_self = t;
    head->run(data);
    af_self = NULL;
    af_event_add(t, AF_POST, done, 0);
    af_event_add(t, AF_UNIT_END, unit, 1);
    af_forget_awaited(t);
    t->task = task.outer;
    t->team = outer_team;
    t->unit = outer_unit;
    t->unit_value = outer_value;
    t->loop = outer_loop;
    if (blocked > 0) {
        af_block(t);
        atomic_store(&t->blocked, blocked);
        atomic_store(&t->gate, gate);
        atomic_store(&t->work, work);
    }
    af_self = saved;
}

// What GOMP_task and GOMP_taskloop pass for the data: our copy function makes the head of it.
typedef struct {
    void (*run)(void*);
    void (*copy)(void*, void*);
    void* data;
    size_t size;
    uint32_t offset;
    bool loop;
    uint64_t* waits;
    uint32_t waits_n;
    uint64_t done;
} af_task_order;

static void copy_task(void* to, void* from) {
    const af_task_order* order = from;
    af_task_head* head = to;
    af_thread* t = af_mine;
    head->run = order->run;
    head->offset = order->offset;
    head->loop = order->loop;
    head->waits = order->waits;
    head->waits_n = order->waits_n;
    head->team = NULL;
    head->group = NULL;
    head->unit = head->created = head->done = 0;
    if (t != NULL) {
        head->team = t->team;
        if (t->team != NULL) atomic_fetch_add(&t->team->tasks_waiting, 1);
        head->created = af_token();
        head->done = order->done != 0 ? order->done : af_token();
        // Outside a parallel region a task is a call; it still has a number of its own.
        head->unit = t->team != NULL
                         ? (t->team->tasks << 20) + atomic_fetch_add(&t->team->task_count, 1)
                         : af_ids(1) << 20;
        if (t->task != NULL) {
            head->group = t->task->group;
            add_token(&t->task->children, head->done);
        }
        for (af_group* g = head->group; g != NULL; g = g->outer) add_token(&g->members, head->done);
        af_event_add(t, AF_POST, head->created, 0);
    }
    af_thread* const quiet = af_self;
    af_self = t;  // the copy is the program's
    if (order->copy != NULL)
        order->copy(data_of(head), order->data);
    else
        memcpy(data_of(head), order->data, order->size);
    af_self = quiet;
}

// Dependences: a reader comes after the last writer, a writer after it and the readers since.
// `depend` in either of libgomp's two layouts.
static void collect_waits(void** depend, af_tokens* waits, uint64_t done) {
    size_t total = (size_t)(uintptr_t)depend[0], writers = (size_t)(uintptr_t)depend[1], first = 2;
    if (total == 0) {
        total = (size_t)(uintptr_t)depend[1];
        writers = (size_t)(uintptr_t)depend[2] + (size_t)(uintptr_t)depend[3];
        first = 5;
    }
    for (size_t i = 0; i < total; i++) {
        af_rwlock* d = (af_rwlock*)af_object_of((uint64_t)(uintptr_t)depend[first + i],
                                                AF_IS_DEPENDENCE, sizeof *d);
        af_object_lock(&d->object);
        if (d->object.token != 0) add_token(waits, d->object.token);
        if (i < writers) {
            for (uint32_t k = 0; k < d->readers; k++) add_token(waits, d->reads[k].token);
            if (done != 0) {
                d->object.token = done;
                d->readers = 0;
            }
        } else if (done != 0) {
            // A full list: from here on the readers come one after the other, which is an order
            // that OpenMP allows.
            if (d->readers == AF_RING) {
                add_token(waits, d->reads[AF_RING - 1].token);
                d->readers--;
            }
            d->reads[d->readers++].token = done;
        }
        af_object_unlock(&d->object);
    }
}

enum { TASK_FLAG_DEPEND = 8 };

AF_API void GOMP_task(void (*run)(void*), void* data, void (*copy)(void*, void*), long size,
                      long align, bool condition, unsigned flags, void** depend, int priority,
                      void* detach) {
    __typeof__(&GOMP_task) real = AF_REAL(void, GOMP_task,
                                          (void (*)(void*), void*, void (*)(void*, void*), long,
                                           long, bool, unsigned, void**, int, void*));
    af_thread* t = af_here();
    if (t == NULL) {
        real(run, data, copy, size, align, condition, flags, depend, priority, detach);
        return;
    }
    if (align < 16) align = 16;
    af_tokens waits = {0};
    const uint64_t done = af_token();
    if ((flags & TASK_FLAG_DEPEND) && depend != NULL) collect_waits(depend, &waits, done);
    af_task_order order = {
        .run = run,
        .copy = copy,
        .data = data,
        .size = (size_t)size,
        .offset = (uint32_t)((sizeof(af_task_head) + (size_t)align - 1) & ~((size_t)align - 1)),
        .waits = waits.items,
        .waits_n = waits.n,
        .done = done};
    af_thread* const saved = af_quiet();
    real(run_task, &order, copy_task, size + (long)order.offset, align, condition, flags, depend,
         priority, detach);
    af_loud(saved);
}

#define TASKLOOP(name, number)                                                                    \
    AF_API void name(void (*run)(void*), void* data, void (*copy)(void*, void*), long size,       \
                     long align, unsigned flags, unsigned long tasks, int priority, number start, \
                     number end, number step) {                                                   \
        __typeof__(&name) real =                                                                  \
            AF_REAL(void, name,                                                                   \
                    (void (*)(void*), void*, void (*)(void*, void*), long, long, unsigned,        \
                     unsigned long, int, number, number, number));                                \
        af_thread* t = af_here();                                                                 \
        if (t == NULL) {                                                                          \
            real(run, data, copy, size, align, flags, tasks, priority, start, end, step);         \
            return;                                                                               \
        }                                                                                         \
        AF_TASKLOOP_BODY                                                                          \
    }

// Without the flag NOGROUP a taskloop is a taskgroup of its own.
enum { TASK_FLAG_UP = 256, TASK_FLAG_NOGROUP = 2048 };
static af_group* open_group(af_thread* t) {
    if (t->task == NULL) return NULL;
    af_group* group = af_alloc(sizeof *group);
    group->outer = t->task->group;
    t->task->group = group;
    return group;
}
static void close_group(af_thread* t) {
    if (t->task == NULL || t->task->group == NULL) return;
    af_group* group = t->task->group;
    t->task->group = group->outer;
    await_all(t, &group->members);
}

#define AF_TASKLOOP_BODY                                                                         \
    if (align < 16) align = 16;                                                                  \
    af_task_order order = {                                                                      \
        .run = run,                                                                              \
        .copy = copy,                                                                            \
        .data = data,                                                                            \
        .size = (size_t)size,                                                                    \
        .offset = (uint32_t)((sizeof(af_task_head) + (size_t)align - 1) & ~((size_t)align - 1)), \
        .loop = true};                                                                           \
    af_group* const group = flags & TASK_FLAG_NOGROUP ? NULL : open_group(t);                    \
    af_thread* const saved = af_quiet();                                                         \
    af_block(t);                                                                                 \
    real(run_task, &order, copy_task, size + (long)order.offset, align, flags, tasks, priority,  \
         start, end, step);                                                                      \
    af_unblock(t);                                                                               \
    af_loud(saved);                                                                              \
    if (group != NULL) close_group(t);
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

// Calls in which the thread may run other tasks while it waits.
#define WAITING_FOR_TASKS(name, parameters, arguments, after)     \
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
static void after_wait(af_thread* t) {
    if (t->task != NULL) await_all(t, &t->task->children);
}
static void after_wait_depend(af_thread* t, void** depend) {
    af_tokens waits = {0};
    collect_waits(depend, &waits, 0);
    await_all(t, &waits);
}
WAITING_FOR_TASKS(GOMP_taskwait, (void), (), after_wait(t))
WAITING_FOR_TASKS(GOMP_taskwait_depend, (void** depend), (depend), after_wait_depend(t, depend))
WAITING_FOR_TASKS(GOMP_taskyield, (void), (), (void)0)
WAITING_FOR_TASKS(GOMP_taskgroup_end, (void), (), close_group(t))

AF_API void GOMP_taskgroup_start(void) {
    af_thread* t = af_here();
    if (t != NULL) open_group(t);
    af_thread* const saved = af_quiet();
    AF_REAL(void, GOMP_taskgroup_start, (void))();
    af_loud(saved);
}
