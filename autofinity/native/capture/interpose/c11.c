// Threads, mutexes and conditions of C11.
//
// In glibc these are the functions of POSIX under other names: the same objects, of the same
// layout, and calls between them that cannot be interposed. The functions here call ours for POSIX,
// and return the results of C11.
#include <threads.h>

#include "capture/interpose/interpose.h"
#include "capture/interpose/mutexes.h"

static int named(int error) {
    switch (error) {
        case 0:
            return thrd_success;
        case EBUSY:
            return thrd_busy;
        case ENOMEM:
            return thrd_nomem;
        case ETIMEDOUT:
            return thrd_timedout;
        default:
            return thrd_error;
    }
}

static pthread_mutex_t* mutex_of(mtx_t* m) { return (pthread_mutex_t*)m; }
static pthread_cond_t* condition_of(cnd_t* c) { return (pthread_cond_t*)c; }

AF_API int mtx_init(mtx_t* m, int kind) {
    af_mutex_begins(mutex_of(m));
    return AF_QUIETLY(AF_REAL(mtx_init)(m, kind));
}
AF_API int mtx_lock(mtx_t* m) { return named(pthread_mutex_lock(mutex_of(m))); }
AF_API int mtx_timedlock(mtx_t* restrict m, const struct timespec* restrict until) {
    return named(pthread_mutex_timedlock(mutex_of(m), until));
}
AF_API int mtx_trylock(mtx_t* m) { return named(pthread_mutex_trylock(mutex_of(m))); }
AF_API int mtx_unlock(mtx_t* m) { return named(pthread_mutex_unlock(mutex_of(m))); }

AF_API int cnd_wait(cnd_t* c, mtx_t* m) {
    return named(pthread_cond_wait(condition_of(c), mutex_of(m)));
}
AF_API int cnd_timedwait(cnd_t* restrict c, mtx_t* restrict m,
                         const struct timespec* restrict until) {
    return named(pthread_cond_timedwait(condition_of(c), mutex_of(m), until));
}
AF_API int cnd_signal(cnd_t* c) { return named(pthread_cond_signal(condition_of(c))); }
AF_API int cnd_broadcast(cnd_t* c) { return named(pthread_cond_broadcast(condition_of(c))); }

// An int comes back in the same register as a pointer; thrd_join takes no more of it.
AF_API int thrd_create(thrd_t* handle, thrd_start_t start, void* argument) {
    return named(pthread_create(handle, NULL, (void* (*)(void*))(void*)start, argument));
}
AF_API int thrd_join(thrd_t handle, int* result) {
    void* returned = NULL;
    const int error = pthread_join(handle, &returned);
    if (error == 0 && result != NULL) *result = (int)(intptr_t)returned;
    return named(error);
}

AF_API void call_once(once_flag* flag, void (*routine)(void)) {
    pthread_once((pthread_once_t*)flag, routine);
}
