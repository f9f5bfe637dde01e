// A barrier is recorded after the real one, because the thread may run tasks while it waits.
#include "capture/interpose/openmp/barriers.h"

#include "capture/interpose/openmp/units.h"
#include "capture/record/slots.h"
#include "capture/threads/meetings.h"

void af_block_at_barrier(af_thread* t, af_team* team, int team_size) {
    if (team == NULL || team_size <= 1) {
        af_block(t);
        return;
    }
    af_warm(t);
    const uint64_t mine = atomic_fetch_add(&team->arrivals, 1), size = (uint64_t)team_size;
    if ((mine + 1) % size == 0) af_meeting((unsigned)team_size);
    af_block_at(t, &team->arrivals, (mine / size + 1) * size);
    atomic_store_explicit(&t->work, &team->tasks_waiting, memory_order_release);
}

void af_passed_barrier(af_thread* t, const af_team* team, int team_size) {
    if (team_size > 1) af_event_add(t, AF_BARRIER, team->barrier, (unsigned)team_size);
}

// Ends the thread's current work in the team, calls `wait`, the real function, and records the
// barrier.
#define TEAM_BARRIER(t, wait)                                                           \
    do {                                                                                \
        af_end_share(t);                                                                \
        int size;                                                                       \
        AF_UNHEARD(size = af_team_size(t); af_block_at_barrier(t, t->team, size); wait; \
                   af_unblock(t));                                                      \
        af_passed_barrier(t, t->team, size);                                            \
    } while (0)

#define BARRIER(name)                         \
    AF_API void name(void) {                  \
        af_thread* const t = af_here();       \
        if (t == NULL)                        \
            AF_REAL(name)();                  \
        else                                  \
            TEAM_BARRIER(t, AF_REAL(name)()); \
    }
#define BARRIER_CANCEL(name)                          \
    AF_API bool name(void) {                          \
        af_thread* const t = af_here();               \
        if (t == NULL) return AF_REAL(name)();        \
        bool cancelled;                               \
        TEAM_BARRIER(t, cancelled = AF_REAL(name)()); \
        return cancelled;                             \
    }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)
BARRIER_CANCEL(GOMP_sections_end_cancel)

// A single with copyprivate holds a barrier: one thread meets it in _end, the others in _start.
static void passed_single(af_thread* t) {
    if (t->team != NULL) af_event_add(t, AF_BARRIER, t->team->barrier, (unsigned)af_team_size(t));
}

AF_API void* GOMP_single_copy_start(void) {
    af_thread* const t = af_here();
    if (t == NULL) return AF_REAL(GOMP_single_copy_start)();
    void* data;
    AF_UNHEARD(af_block(t); data = AF_REAL(GOMP_single_copy_start)(); af_unblock(t));
    if (data != NULL) passed_single(t);
    return data;
}
AF_WAITING(GOMP_single_copy_end, (void* data), (data), passed_single(t))

AF_API void GOMP_scope_start(uintptr_t* reductions) {
    af_thread* const t = af_here();
    if (t != NULL && reductions != NULL) af_begin_reducing(t);
    AF_UNHEARD(AF_REAL(GOMP_scope_start)(reductions));
}
// Ends such a construct: its tasks, and, unless it was cancelled, with a barrier of the team.
AF_API void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    __auto_type const real = AF_REAL(GOMP_workshare_task_reduction_unregister);
    af_thread* const t = af_here();
    if (t == NULL) {
        real(cancelled);
        return;
    }
    af_end_share(t);
    if (cancelled)
        AF_UNHEARD(real(cancelled));
    else
        TEAM_BARRIER(t, real(cancelled));
    af_end_reducing(t);
}
