// Barriers of POSIX threads.
#include "capture/interpose/interpose.h"
#include "capture/order/objects.h"
#include "capture/record/accesses.h"
#include "capture/state/arena.h"
#include "capture/threads/meetings.h"

typedef struct {
    af_object object;
    unsigned count;
    _Atomic uint64_t arrivals;
} barrier_object;

AF_API int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t* attributes,
                                unsigned count) {
    af_thread* t = af_here();
    if (t != NULL) {
        barrier_object* barrier = AF_OBJECT(barrier_object, b, AF_IS_BARRIER);
        barrier->object.id = af_ids(1);
        barrier->count = count;
        atomic_store(&barrier->arrivals, 0);
    }
    return AF_QUIETLY(AF_REAL(pthread_barrier_init)(b, attributes, count));
}
AF_API int pthread_barrier_wait(pthread_barrier_t* b) {
    af_thread* t = af_here();
    if (t == NULL) return AF_REAL(pthread_barrier_wait)(b);
    barrier_object* barrier = AF_OBJECT(barrier_object, b, AF_IS_BARRIER);
    af_alone(t, b, 1, 1);
    if (barrier->count > 1) af_event_add(t, AF_BARRIER, barrier->object.id, barrier->count);
    const uint64_t count = barrier->count > 0 ? barrier->count : 1;
    const uint64_t mine = atomic_fetch_add(&barrier->arrivals, 1);
    if ((mine + 1) % count == 0) af_meeting((unsigned)count);
    af_block_at(t, &barrier->arrivals, (mine / count + 1) * count);
    const int result = AF_QUIETLY(AF_REAL(pthread_barrier_wait)(b));
    af_unblock(t);
    return result;
}
