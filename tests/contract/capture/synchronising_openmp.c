// Calls the function of libgomp that its argument names, between two marks, where it orders
// threads.
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;
static _Alignas(64) char marks[2][64];
static void mark(int i) {
    __asm__ volatile("" ::: "memory");
    marks[i][0] = 1;
    __asm__ volatile("" ::: "memory");
}
static const char* what;
static int calls;
static int is(const char* name) { return strcmp(what, name) == 0; }
#define BETWEEN(...) \
    (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED), mark(0), (void)(__VA_ARGS__), mark(1))
#define CALL(name, call)   \
    do {                   \
        if (is(#name))     \
            BETWEEN(call); \
        else               \
            (void)(call);  \
    } while (0)

enum { THREADS = 2, N = 32 };
void GOMP_loop_end(void), GOMP_loop_end_nowait(void), GOMP_sections_end(void),
    GOMP_sections_end_nowait(void);
bool GOMP_loop_end_cancel(void), GOMP_sections_end_cancel(void), GOMP_barrier_cancel(void);
void GOMP_barrier(void), GOMP_ordered_start(void), GOMP_ordered_end(void);
void* GOMP_single_copy_start(void);
void GOMP_single_copy_end(void*);
unsigned GOMP_sections_start(unsigned), GOMP_sections_next(void),
    GOMP_sections2_start(unsigned, uintptr_t*, void**);

static void chunk_end(void) {
    if (is("GOMP_loop_end_cancel"))
        BETWEEN(GOMP_loop_end_cancel());
    else
        CALL(GOMP_loop_end, GOMP_loop_end());
}
// `first` and `next` of a loop, in a team. In an ordered one the ordered part of each chunk.
#define RUN(first_name, first, next_name, next, ordered)        \
    {                                                           \
        bool got;                                               \
        CALL(first_name, got = first);                          \
        while (got) {                                           \
            if (ordered) {                                      \
                CALL(GOMP_ordered_start, GOMP_ordered_start()); \
                CALL(GOMP_ordered_end, GOMP_ordered_end());     \
            }                                                   \
            CALL(next_name, got = next);                        \
        }                                                       \
        chunk_end();                                            \
    }
#define LOOP(prefix, number, up_parameter, up, kind, chunk_parameter, chunk, ordered)            \
    bool prefix##_##kind##_start(up_parameter number, number, number chunk_parameter(number),    \
                                 number*, number*);                                              \
    bool prefix##_##kind##_next(number*, number*);                                               \
    static void run_##prefix##_##kind(void) {                                                    \
        number from, to;                                                                         \
        RUN(prefix##_##kind##_start, (prefix##_##kind##_start(up 0, N, 1 chunk(1), &from, &to)), \
            prefix##_##kind##_next, (prefix##_##kind##_next(&from, &to)), ordered)               \
    }
#define NO_UP
#define UP_TYPE bool,
#define UP true,
#define NO(x)
#define YES(x) , x
#define BOTH(kind, chunk_parameter, chunk, ordered)                            \
    LOOP(GOMP_loop, long, NO_UP, NO_UP, kind, chunk_parameter, chunk, ordered) \
    LOOP(GOMP_loop_ull, ull, UP_TYPE, UP, kind, chunk_parameter, chunk, ordered)
BOTH(dynamic, YES, YES, 0)
BOTH(guided, YES, YES, 0)
BOTH(runtime, NO, NO, 0)
BOTH(nonmonotonic_dynamic, YES, YES, 0)
BOTH(nonmonotonic_guided, YES, YES, 0)
BOTH(nonmonotonic_runtime, NO, NO, 0)
BOTH(maybe_nonmonotonic_runtime, NO, NO, 0)
BOTH(ordered_dynamic, YES, YES, 1)
BOTH(ordered_guided, YES, YES, 1)
BOTH(ordered_runtime, NO, NO, 1)
#define FOR_BOTH(kind)                                                                      \
    if (strncmp(what, "GOMP_loop_" #kind "_", strlen("GOMP_loop_" #kind "_")) == 0)         \
        run_GOMP_loop_##kind();                                                             \
    if (strncmp(what, "GOMP_loop_ull_" #kind "_", strlen("GOMP_loop_ull_" #kind "_")) == 0) \
        run_GOMP_loop_ull_##kind();

bool GOMP_loop_start(long, long, long, long, long, long*, long*, uintptr_t*, void**);
bool GOMP_loop_ordered_start(long, long, long, long, long, long*, long*, uintptr_t*, void**);
bool GOMP_loop_ull_start(bool, ull, ull, ull, long, ull, ull*, ull*, uintptr_t*, void**);
bool GOMP_loop_ull_ordered_start(bool, ull, ull, ull, long, ull, ull*, ull*, uintptr_t*, void**);
enum { LIBGOMPS_DYNAMIC = 2 };
static void general_loops(void) {
    long a, b;
    ull c, d;
    if (is("GOMP_loop_start"))
        RUN(GOMP_loop_start, (GOMP_loop_start(0, N, 1, LIBGOMPS_DYNAMIC, 1, &a, &b, NULL, NULL)),
            none, GOMP_loop_dynamic_next(&a, &b), 0)
    if (is("GOMP_loop_ordered_start"))
        RUN(GOMP_loop_ordered_start,
            (GOMP_loop_ordered_start(0, N, 1, LIBGOMPS_DYNAMIC, 1, &a, &b, NULL, NULL)), none,
            GOMP_loop_ordered_dynamic_next(&a, &b), 1)
    if (is("GOMP_loop_ull_start"))
        RUN(GOMP_loop_ull_start,
            (GOMP_loop_ull_start(true, 0, N, 1, LIBGOMPS_DYNAMIC, 1, &c, &d, NULL, NULL)), none,
            GOMP_loop_ull_dynamic_next(&c, &d), 0)
    if (is("GOMP_loop_ull_ordered_start"))
        RUN(GOMP_loop_ull_ordered_start,
            (GOMP_loop_ull_ordered_start(true, 0, N, 1, LIBGOMPS_DYNAMIC, 1, &c, &d, NULL, NULL)),
            none, GOMP_loop_ull_ordered_dynamic_next(&c, &d), 1)
}

void GOMP_doacross_post(long*), GOMP_doacross_wait(long, ...);
void GOMP_doacross_ull_post(ull*), GOMP_doacross_ull_wait(ull, ...);
#define DOACROSS_START(prefix, number)                                                          \
    bool prefix##_doacross_dynamic_start(unsigned, number*, number, number*, number*);          \
    bool prefix##_doacross_guided_start(unsigned, number*, number, number*, number*);           \
    bool prefix##_doacross_runtime_start(unsigned, number*, number*, number*);                  \
    bool prefix##_doacross_start(unsigned, number*, long, number, number*, number*, uintptr_t*, \
                                 void**);
DOACROSS_START(GOMP_loop, long)
DOACROSS_START(GOMP_loop_ull, ull)
#define DOACROSS(number, prefix, next, post, wait)                                            \
    {                                                                                         \
        number counts[1] = {N}, from, to;                                                     \
        bool got;                                                                             \
        if (is(#prefix "_doacross_guided_start"))                                             \
            BETWEEN(got = prefix##_doacross_guided_start(1, counts, 1, &from, &to));          \
        else if (is(#prefix "_doacross_runtime_start"))                                       \
            BETWEEN(got = prefix##_doacross_runtime_start(1, counts, &from, &to));            \
        else if (is(#prefix "_doacross_start"))                                               \
            BETWEEN(got = prefix##_doacross_start(1, counts, LIBGOMPS_DYNAMIC, 1, &from, &to, \
                                                  NULL, NULL));                               \
        else                                                                                  \
            CALL(prefix##_doacross_dynamic_start,                                             \
                 got = prefix##_doacross_dynamic_start(1, counts, 1, &from, &to));            \
        for (; got; got = next(&from, &to))                                                   \
            for (number i = from; i < to; i++) {                                              \
                if (i > 0) CALL(wait, (wait(i - 1), 0));                                      \
                number at[1] = {i};                                                           \
                CALL(post, (post(at), 0));                                                    \
            }                                                                                 \
        GOMP_loop_end();                                                                      \
    }

static void in_team(void) {
    long a, b;
    FOR_BOTH(dynamic)
    FOR_BOTH(guided)
    FOR_BOTH(runtime)
    FOR_BOTH(nonmonotonic_dynamic)
    FOR_BOTH(nonmonotonic_guided)
    FOR_BOTH(nonmonotonic_runtime)
    FOR_BOTH(maybe_nonmonotonic_runtime)
    FOR_BOTH(ordered_dynamic)
    FOR_BOTH(ordered_guided)
    FOR_BOTH(ordered_runtime)
    general_loops();
    if (strncmp(what, "GOMP_ordered_", 13) == 0) run_GOMP_loop_ordered_dynamic();
    if (is("GOMP_loop_end") || is("GOMP_loop_end_cancel")) run_GOMP_loop_dynamic();
    if (strstr(what, "ull") != NULL && strstr(what, "doacross") != NULL)
        DOACROSS(ull, GOMP_loop_ull, GOMP_loop_ull_dynamic_next, GOMP_doacross_ull_post,
                 GOMP_doacross_ull_wait)
    else if (strstr(what, "doacross") != NULL)
        DOACROSS(long, GOMP_loop, GOMP_loop_dynamic_next, GOMP_doacross_post, GOMP_doacross_wait)
    if (strncmp(what, "GOMP_sections", 13) == 0) {
        unsigned at;
        if (is("GOMP_sections2_start"))
            BETWEEN(at = GOMP_sections2_start(N, NULL, NULL));
        else
            CALL(GOMP_sections_start, at = GOMP_sections_start(N));
        while (at != 0) CALL(GOMP_sections_next, at = GOMP_sections_next());
        if (is("GOMP_sections_end_cancel"))
            BETWEEN(GOMP_sections_end_cancel());
        else
            CALL(GOMP_sections_end, (GOMP_sections_end(), 0));
    }
    if (is("GOMP_barrier")) BETWEEN((GOMP_barrier(), 0));
    if (is("GOMP_barrier_cancel")) BETWEEN(GOMP_barrier_cancel());
    if (strncmp(what, "GOMP_single_copy", 16) == 0) {
        void* data;
        CALL(GOMP_single_copy_start, data = GOMP_single_copy_start());
        if (data == NULL) CALL(GOMP_single_copy_end, (GOMP_single_copy_end(&a), 0));
        (void)b;
    }
}

void GOMP_critical_start(void), GOMP_critical_end(void), GOMP_atomic_start(void),
    GOMP_atomic_end(void);
void GOMP_critical_name_start(void**), GOMP_critical_name_end(void**);
void omp_set_lock_(void*), omp_unset_lock_(void*), omp_set_nest_lock_(void*),
    omp_unset_nest_lock_(void*);
void omp_init_nest_lock_(void*);
int omp_test_lock_(void*), omp_test_nest_lock_(void*);
static void* named;
static void exclusion(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    void* fortrans = NULL;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    omp_init_nest_lock_(&fortrans);
#define PAIR(start, start_call, end, end_call)    \
    if (is(#start) || (is(#end) && calls == 0)) { \
        CALL(start, start_call);                  \
        CALL(end, (end_call, 0));                 \
    }
    PAIR(GOMP_critical_start, (GOMP_critical_start(), 0), GOMP_critical_end, GOMP_critical_end())
    PAIR(GOMP_critical_name_start, (GOMP_critical_name_start(&named), 0), GOMP_critical_name_end,
         GOMP_critical_name_end(&named))
    PAIR(GOMP_atomic_start, (GOMP_atomic_start(), 0), GOMP_atomic_end, GOMP_atomic_end())
    PAIR(omp_set_lock, (omp_set_lock(&lock), 0), omp_unset_lock, omp_unset_lock(&lock))
    PAIR(omp_set_nest_lock, (omp_set_nest_lock(&nest), 0), omp_unset_nest_lock,
         omp_unset_nest_lock(&nest))
    PAIR(omp_set_lock_, (omp_set_lock_(&lock), 0), omp_unset_lock_, omp_unset_lock_(&lock))
    PAIR(omp_set_nest_lock_, (omp_set_nest_lock_(&fortrans), 0), omp_unset_nest_lock_,
         omp_unset_nest_lock_(&fortrans))
    PAIR(omp_test_lock, omp_test_lock(&lock), none, omp_unset_lock(&lock))
    PAIR(omp_test_nest_lock, omp_test_nest_lock(&nest), none, omp_unset_nest_lock(&nest))
    PAIR(omp_test_lock_, omp_test_lock_(&lock), none, omp_unset_lock_(&lock))
    PAIR(omp_test_nest_lock_, omp_test_nest_lock_(&fortrans), none, omp_unset_nest_lock_(&fortrans))
}

void GOMP_parallel(void (*)(void*), void*, unsigned, unsigned);
void GOMP_parallel_sections(void (*)(void*), void*, unsigned, unsigned, unsigned);
static _Alignas(64) long shared[8];
static void nothing(void* unused) { (void)unused; }
static void sections(void* unused) {
    while (GOMP_sections_next() != 0) shared[0]++;
    GOMP_sections_end_nowait();
}
#define TEAM(kind, chunk_parameter, chunk, next)                                                  \
    void GOMP_parallel_loop_##kind(void (*)(void*), void*, unsigned, long, long,                  \
                                   long chunk_parameter(long), unsigned);                         \
    bool GOMP_loop_##next##_next(long*, long*);                                                   \
    static void body_##kind(void* unused) {                                                       \
        long from, to;                                                                            \
        while (GOMP_loop_##next##_next(&from, &to)) continue;                                     \
        GOMP_loop_end_nowait();                                                                   \
    }                                                                                             \
    static void team_##kind(void) {                                                               \
        if (is("GOMP_parallel_loop_" #kind))                                                      \
            BETWEEN(                                                                              \
                (GOMP_parallel_loop_##kind(body_##kind, NULL, THREADS, 0, N, 1 chunk(1), 0), 0)); \
    }
TEAM(static, YES, YES, static)
TEAM(dynamic, YES, YES, dynamic)
TEAM(guided, YES, YES, guided)
TEAM(runtime, NO, NO, runtime)
TEAM(nonmonotonic_dynamic, YES, YES, nonmonotonic_dynamic)
TEAM(nonmonotonic_guided, YES, YES, nonmonotonic_guided)
TEAM(nonmonotonic_runtime, NO, NO, nonmonotonic_runtime)
TEAM(maybe_nonmonotonic_runtime, NO, NO, maybe_nonmonotonic_runtime)

static void teams(void) {
    team_static();
    team_dynamic();
    team_guided();
    team_runtime();
    team_nonmonotonic_dynamic();
    team_nonmonotonic_guided();
    team_nonmonotonic_runtime();
    team_maybe_nonmonotonic_runtime();
    if (is("GOMP_parallel")) BETWEEN((GOMP_parallel(nothing, NULL, THREADS, 0), 0));
    if (is("GOMP_parallel_sections"))
        BETWEEN((GOMP_parallel_sections(sections, NULL, THREADS, N, 0), 0));
}

// Synchronisation that only pragmas can express.
static void tasks(void) {
    long x = 0, sum = 0;
    if (is("GOMP_parallel_reductions")) {
        mark(0);
#pragma omp parallel num_threads(THREADS) reduction(task, + : sum)
        {
#pragma omp task in_reduction(+ : sum)
            sum++;
        }
        mark(1);
        calls += sum == THREADS;
    }
    if (is("GOMP_workshare_task_reduction_unregister")) {
#pragma omp parallel num_threads(THREADS)
        {
            mark(0);
#pragma omp for schedule(dynamic) reduction(task, + : sum)
            for (int i = 0; i < N; i++) {
#pragma omp task in_reduction(+ : sum)
                sum++;
            }
            mark(1);
        }
        calls += sum == N;
    }
    if (strncmp(what, "GOMP_task", 9) != 0) return;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        if (is("GOMP_taskloop")) {
            mark(0);
#pragma omp taskloop
            for (int i = 0; i < N; i++) shared[i % 8]++;
            mark(1);
            calls++;
        }
        if (is("GOMP_taskloop_ull")) {
            mark(0);
#pragma omp taskloop
            for (ull i = 0; i < N; i++) shared[i % 8]++;
            mark(1);
            calls++;
        }
        if (is("GOMP_task")) mark(0);
        if (is("GOMP_taskgroup_end")) {
#pragma omp taskgroup
            {
#pragma omp task shared(x)
                x++;
                mark(0);
            }
            mark(1);
            calls++;
        } else {
#pragma omp task shared(x) depend(out : x)
            x++;
        }
        if (is("GOMP_task")) {
            mark(1);
            calls++;
        }
        if (is("GOMP_taskwait")) {
            mark(0);
#pragma omp taskwait
            mark(1);
            calls++;
        }
        if (is("GOMP_taskwait_depend")) {
            mark(0);
#pragma omp taskwait depend(in : x)
            mark(1);
            calls++;
        }
    }
}

int main(int count, char** arguments) {
    what = arguments[count - 1];
    omp_set_schedule(omp_sched_dynamic, 1);
    teams();
    tasks();
    if (calls == 0) {
        exclusion();
        if (calls == 0) {
#pragma omp parallel num_threads(THREADS)
            in_team();
        }
    }
    return calls == 0;
}
