// OpenMP tasks: units numbered by creation, with the edges that OpenMP promises.
#include "capture/interpose/openmp/tasks.h"

#include <string.h>

#include "capture/interpose/openmp/libgomp.h"
#include "capture/interpose/openmp/team.h"
#include "capture/order/awaiting.h"
#include "capture/order/locks.h"
#include "capture/record/slots.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"

// Lies before the data of a task; libgomp writes a taskloop's range into the first two words.
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
    // Called while the thread waits in a barrier or a taskwait: now the thread runs.
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

// Data that GOMP_task and GOMP_taskloop pass on: our copy function makes the head from it. libgomp
// reads the reductions of a taskloop from the third word, behind its range.
typedef struct {
    long range[2];
    void* reductions;
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
        // Outside a parallel region a task is a call, but it has a number of its own.
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
    else if (order->size > 0)  // otherwise there may be no data
        memcpy(data_of(head), order->data, order->size);
    af_self = quiet;
}

// Dependences: a reader comes after the last writer, a writer after the last writer and all readers
// since. `depend` in either of libgomp's two layouts.
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
            // The list is full: from here on the readers come one after the other, an order that
            // OpenMP allows.
            if (d->readers == AF_READERS) {
                add_token(waits, d->reads[AF_READERS - 1].token);
                d->readers--;
            }
            d->reads[d->readers++].token = done;
        }
        af_object_unlock(&d->object);
    }
}

enum { TASK_FLAG_DEPEND = 8, TASK_FLAG_NOGROUP = 2048, TASK_FLAG_REDUCTION = 4096 };
enum { LEAST_ALIGN = 16 };

static af_task_order order_of(void (*run)(void*), void* data, void (*copy)(void*, void*), long size,
                              long align) {
    const size_t mask = (size_t)align - 1;
    return (af_task_order){.run = run,
                           .copy = copy,
                           .data = data,
                           .size = (size_t)size,
                           .offset = (uint32_t)((sizeof(af_task_head) + mask) & ~mask)};
}

AF_API void GOMP_task(void (*run)(void*), void* data, void (*copy)(void*, void*), long size,
                      long align, bool condition, unsigned flags, void** depend, int priority,
                      void* detach) {
    __auto_type const real = AF_REAL(GOMP_task);
    af_thread* const t = af_here();
    if (t == NULL) {
        real(run, data, copy, size, align, condition, flags, depend, priority, detach);
        return;
    }
    if (align < LEAST_ALIGN) align = LEAST_ALIGN;
    af_tokens waits = {0};
    af_task_order order = order_of(run, data, copy, size, align);
    order.done = af_token();
    if ((flags & TASK_FLAG_DEPEND) && depend != NULL) collect_waits(depend, &waits, order.done);
    order.waits = waits.items;
    order.waits_n = waits.n;
    AF_UNHEARD(real(run_task, &order, copy_task, size + (long)order.offset, align, condition, flags,
                    depend, priority, detach));
}

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

void af_begin_reducing(af_thread* t) { open_group(t); }
void af_end_reducing(af_thread* t) { close_group(t); }

// Without the flag NOGROUP a taskloop is a taskgroup of its own.
#define TASKLOOP(name, number)                                                                    \
    AF_API void name(void (*run)(void*), void* data, void (*copy)(void*, void*), long size,       \
                     long align, unsigned flags, unsigned long tasks, int priority, number start, \
                     number end, number step) {                                                   \
        __auto_type const real = AF_REAL(name);                                                   \
        af_thread* const t = af_here();                                                           \
        if (t == NULL) {                                                                          \
            real(run, data, copy, size, align, flags, tasks, priority, start, end, step);         \
            return;                                                                               \
        }                                                                                         \
        if (align < LEAST_ALIGN) align = LEAST_ALIGN;                                             \
        af_task_order order = order_of(run, data, copy, size, align);                             \
        order.loop = true;                                                                        \
        if (flags & TASK_FLAG_REDUCTION) order.reductions = ((void**)data)[2];                    \
        af_group* const group = flags & TASK_FLAG_NOGROUP ? NULL : open_group(t);                 \
        AF_UNHEARD(af_block(t); real(run_task, &order, copy_task, size + (long)order.offset,      \
                                     align, flags, tasks, priority, start, end, step);            \
                   af_unblock(t));                                                                \
        if (group != NULL) close_group(t);                                                        \
    }
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

static void after_wait(af_thread* t) {
    if (t->task != NULL) await_all(t, &t->task->children);
}
static void after_wait_depend(af_thread* t, void** depend) {
    af_tokens waits = {0};
    collect_waits(depend, &waits, 0);
    await_all(t, &waits);
}
AF_WAITING(GOMP_taskwait, (void), (), after_wait(t))
AF_WAITING(GOMP_taskwait_depend, (void** depend), (depend), after_wait_depend(t, depend))
AF_WAITING(GOMP_taskyield, (void), (), (void)0)
AF_WAITING(GOMP_taskgroup_end, (void), (), close_group(t))

AF_API void GOMP_taskgroup_start(void) {
    af_thread* const t = af_here();
    if (t != NULL) open_group(t);
    AF_UNHEARD(AF_REAL(GOMP_taskgroup_start)());
}
