// Calls the function of glibc that its argument names, between two marks, where it orders threads.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static _Alignas(64) char marks[2][64];
static void mark(int i) {
    __asm__ volatile("" ::: "memory");
    marks[i][0] = 1;
    __asm__ volatile("" ::: "memory");
}
static const char* what;
static int calls;
static int is(const char* name) { return strcmp(what, name) == 0; }
#define BETWEEN(...) (calls++, mark(0), (void)(__VA_ARGS__), mark(1))
#define CASE(name, call) \
    if (is(#name)) BETWEEN(call)

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static mtx_t cm;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static cnd_t cc;
static sem_t s, ready;
static pthread_barrier_t both;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static int64_t guard;
__attribute__((weak)) int __cxa_guard_acquire(int64_t*);
__attribute__((weak)) void __cxa_guard_release(int64_t*);
static _Alignas(64) long shared;
static void routine(void) { shared++; }

static struct timespec soon(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_sec += 100;
    return at;
}

// Thread that main then waits for, or comes after.
static void* helper(void* unused) {
    shared++;
    if (is("pthread_once")) pthread_once(&once, routine);
    if (is("call_once")) call_once(&flag, routine);
    if (is("__cxa_guard_acquire") && __cxa_guard_acquire(&guard)) __cxa_guard_release(&guard);
    if (strncmp(what, "pthread_cond_", 13) == 0) {
        pthread_mutex_lock(&m);
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    if (strncmp(what, "cnd_", 4) == 0) {
        mtx_lock(&cm);
        cnd_signal(&cc);
        mtx_unlock(&cm);
    }
    if (is("pthread_barrier_wait")) BETWEEN(pthread_barrier_wait(&both));
    sem_post(&s);
    sem_post(&ready);
    return unused;
}
static int c_helper(void* unused) {
    helper(unused);
    return 7;
}

static int joins(void) { return strstr(what, "join") != NULL || strstr(what, "_create") != NULL; }

int main(int count, char** arguments) {
    what = arguments[count - 1];
    const struct timespec real = soon(CLOCK_REALTIME), steady = soon(CLOCK_MONOTONIC);
    pthread_t t;
    thrd_t ct;
    int value = 0, result = 0;
    sem_init(&s, 0, 0);
    sem_init(&ready, 0, 0);
    mtx_init(&cm, mtx_timed);
    cnd_init(&cc);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&both, NULL, 2);

    if (joins()) {
        if (strncmp(what, "thrd_", 5) == 0) {
            if (is("thrd_create"))
                BETWEEN(thrd_create(&ct, c_helper, NULL));
            else
                thrd_create(&ct, c_helper, NULL);
            if (is("thrd_join"))
                BETWEEN(thrd_join(ct, &result));
            else
                thrd_join(ct, &result);
            return result != 7 || calls != 1;
        }
        if (is("pthread_create"))
            BETWEEN(pthread_create(&t, NULL, helper, NULL));
        else
            pthread_create(&t, NULL, helper, NULL);
        CASE(pthread_join, pthread_join(t, NULL));
        else CASE(pthread_timedjoin_np, pthread_timedjoin_np(t, NULL, &real));
        else CASE(pthread_clockjoin_np, pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &steady));
        else if (is("pthread_tryjoin_np")) {
            sem_wait(&ready);
            usleep(100000);
            for (int i = 0; i < 1000 && calls == 0; i++) {
                mark(0);
                if (pthread_tryjoin_np(t, NULL) == 0) calls++;
                mark(1);
                if (calls == 0) usleep(10000);
            }
        }
        else pthread_join(t, NULL);
        return calls != 1;
    }

    const int conditions =
        strstr(what, "wait") != NULL &&
        (strncmp(what, "pthread_cond_", 13) == 0 || strncmp(what, "cnd_", 4) == 0);
    if (conditions) {
        pthread_mutex_lock(&m);
        mtx_lock(&cm);
    }
    pthread_create(&t, NULL, helper, NULL);
    if (!conditions && !is("pthread_barrier_wait")) sem_wait(&ready);

    CASE(pthread_cond_wait, pthread_cond_wait(&c, &m));
    CASE(pthread_cond_timedwait, pthread_cond_timedwait(&c, &m, &real));
    CASE(pthread_cond_clockwait, pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &steady));
    CASE(cnd_wait, cnd_wait(&cc, &cm));
    CASE(cnd_timedwait, cnd_timedwait(&cc, &cm, &real));
    if (conditions) {
        pthread_mutex_unlock(&m);
        mtx_unlock(&cm);
    }
    CASE(pthread_cond_signal, pthread_cond_signal(&c));
    CASE(pthread_cond_broadcast, pthread_cond_broadcast(&c));
    CASE(cnd_signal, cnd_signal(&cc));
    CASE(cnd_broadcast, cnd_broadcast(&cc));

    CASE(pthread_once, pthread_once(&once, routine));
    CASE(call_once, call_once(&flag, routine));
    CASE(__cxa_guard_acquire, __cxa_guard_acquire(&guard));
    CASE(__cxa_guard_release, __cxa_guard_release(&guard));
    CASE(pthread_barrier_wait, pthread_barrier_wait(&both));

    CASE(sem_post, sem_post(&s));
    CASE(sem_wait, sem_wait(&s));
    CASE(sem_timedwait, sem_timedwait(&s, &real));
    CASE(sem_clockwait, sem_clockwait(&s, CLOCK_MONOTONIC, &steady));
    CASE(sem_trywait, sem_trywait(&s));
    CASE(sem_getvalue, sem_getvalue(&s, &value));

#define EXCLUSION(name, lock, unlock, unlock_name)      \
    if (is(#name) || (is(unlock_name) && calls == 0)) { \
        if (is(#name))                                  \
            BETWEEN(lock);                              \
        else                                            \
            (void)lock;                                 \
        shared++;                                       \
        if (is(unlock_name))                            \
            BETWEEN(unlock);                            \
        else                                            \
            (void)unlock;                               \
    }
    EXCLUSION(pthread_mutex_lock, pthread_mutex_lock(&m), pthread_mutex_unlock(&m),
              "pthread_mutex_unlock")
    EXCLUSION(pthread_mutex_timedlock, pthread_mutex_timedlock(&m, &real), pthread_mutex_unlock(&m),
              "")
    EXCLUSION(pthread_mutex_clocklock, pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &steady),
              pthread_mutex_unlock(&m), "")
    EXCLUSION(pthread_mutex_trylock, pthread_mutex_trylock(&m), pthread_mutex_unlock(&m), "")
    EXCLUSION(mtx_lock, mtx_lock(&cm), mtx_unlock(&cm), "mtx_unlock")
    EXCLUSION(mtx_timedlock, mtx_timedlock(&cm, &real), mtx_unlock(&cm), "")
    EXCLUSION(mtx_trylock, mtx_trylock(&cm), mtx_unlock(&cm), "")
    EXCLUSION(pthread_spin_lock, pthread_spin_lock(&spin), pthread_spin_unlock(&spin),
              "pthread_spin_unlock")
    EXCLUSION(pthread_spin_trylock, pthread_spin_trylock(&spin), pthread_spin_unlock(&spin), "")
    EXCLUSION(flockfile, (flockfile(stdout), 0), (funlockfile(stdout), 0), "funlockfile")
    EXCLUSION(ftrylockfile, ftrylockfile(stdout), (funlockfile(stdout), 0), "")
    EXCLUSION(pthread_rwlock_rdlock, pthread_rwlock_rdlock(&rw), pthread_rwlock_unlock(&rw), "")
    EXCLUSION(pthread_rwlock_timedrdlock, pthread_rwlock_timedrdlock(&rw, &real),
              pthread_rwlock_unlock(&rw), "")
    EXCLUSION(pthread_rwlock_clockrdlock, pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &steady),
              pthread_rwlock_unlock(&rw), "")
    EXCLUSION(pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock(&rw), pthread_rwlock_unlock(&rw),
              "")
    EXCLUSION(pthread_rwlock_wrlock, pthread_rwlock_wrlock(&rw), pthread_rwlock_unlock(&rw),
              "pthread_rwlock_unlock")
    EXCLUSION(pthread_rwlock_timedwrlock, pthread_rwlock_timedwrlock(&rw, &real),
              pthread_rwlock_unlock(&rw), "")
    EXCLUSION(pthread_rwlock_clockwrlock, pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &steady),
              pthread_rwlock_unlock(&rw), "")
    EXCLUSION(pthread_rwlock_trywrlock, pthread_rwlock_trywrlock(&rw), pthread_rwlock_unlock(&rw),
              "")
    pthread_join(t, NULL);
    return calls != (is("pthread_barrier_wait") ? 2 : 1);
}
