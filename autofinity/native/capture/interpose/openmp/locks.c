// Mutual exclusion and order inside OpenMP regions: critical, atomic, locks, ordered.
#include "capture/interpose/openmp/libgomp.h"
#include "capture/interpose/openmp/team.h"
#include "capture/order/awaiting.h"
#include "capture/order/exclusion.h"
#include "capture/record/slots.h"
#include "capture/state/common.h"

// The locks of unnamed critical sections and of atomic are inside libgomp; these variables stand
// for their lines.
static struct {
    _Alignas(64) char line[64];
} critical_word, atomic_word;

#define EXCLUSION(start, end, parameters, arguments, word)                                      \
    AF_WAITING(start, parameters, arguments, af_acquired(t, (uint64_t)(uintptr_t)(word), true)) \
    AF_API void end parameters {                                                                \
        af_thread* t = af_here();                                                               \
        if (t != NULL) af_releasing(t, (uint64_t)(uintptr_t)(word), true);                      \
        AF_UNHEARD(AF_REAL(end) arguments);                                                     \
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
        const int got = AF_QUIETLY(AF_REAL(name)(p));     \
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

static void after_ordered(af_thread* t) {
    if (t->team != NULL) af_await(t, t->team->ordered_token, NULL);
}
AF_WAITING(GOMP_ordered_start, (void), (), after_ordered(t))
AF_API void GOMP_ordered_end(void) {
    af_thread* t = af_here();
    if (t != NULL && t->team != NULL) {
        const uint64_t token = af_token();
        af_event_add(t, AF_POST, token, 0);
        t->team->ordered_token = token;
    }
    AF_UNHEARD(AF_REAL(GOMP_ordered_end)());
}
