/* ssor: five species that react and diffuse in a cube, by symmetric successive over-relaxation.
 *
 * usage: ssor THREADS EDGE SWEEPS          (sweeps there and back)
 *
 * In a sweep a point needs the new values of the three neighbours before it, as in the lower and
 * upper solves of an LU scheme: a wavefront. At each point the five species are solved for
 * together. Every thread owns a slab of rows and goes through it plane by plane, each as soon as
 * the thread before it has done that plane: a pipeline from the first thread to the last, and on
 * the way back from the last to the first. Neighbours wait for each other's flags, polled with
 * sched_yield; nobody waits for all.
 *
 * Check: one thread that sweeps along diagonals, row by row, gets the same to the last bit; each
 * sweep brought the field nearer to the known solution; and that is one that sweeps leave alone.
 */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_threads.h"

enum { SPECIES = 5 };

static const double kRelaxation = 1.2;
static const double kExchange = 0.15; /* between any two species */
static const double kOwn = 7.75;      /* 6 neighbours, a decay of 1, and the exchange of all five */
static const double kMostKept = 0.45; /* of the error, by a sweep there and back */

/* Planes that a thread has done since the beginning; alone on its line. */
struct progress {
    _Alignas(64) _Atomic long planes;
};

/* Points 0 to edge + 1 in each direction; those at the walls stay zero. */
struct cube {
    long edge, row, plane; /* a row's and a plane's numbers */
    double *field, *source;
};

struct solver {
    int threads;
    long sweeps;
    struct cube cube;
    double inverse[SPECIES][SPECIES]; /* of a point's own equations */
    pthread_barrier_t filled;
    struct progress progress[MAX_THREADS];
};

/* A point's own equations are kOwn on the diagonal, less kExchange everywhere. */
static void invert_own(double inverse[SPECIES][SPECIES]) {
    for (int s = 0; s < SPECIES; ++s)
        for (int t = 0; t < SPECIES; ++t)
            inverse[s][t] = ((s == t) + kExchange / (kOwn - SPECIES * kExchange)) / kOwn;
}

static double* row_at(const struct cube* c, double* of, long k, long j) {
    return of + k * c->plane + j * c->row;
}

/* What the sweeps approach. */
static double solution(const struct cube* c, long k, long j, long i, int species) {
    const double x = (double)i / (double)(c->edge + 1), y = (double)j / (double)(c->edge + 1),
                 z = (double)k / (double)(c->edge + 1);
    return 64 * x * (1 - x) * y * (1 - y) * z * (1 - z) * (species + 1 + x - y * species);
}

/* What gives that solution. */
static double source(const struct cube* c, long k, long j, long i, int species) {
    double sum = kOwn * solution(c, k, j, i, species);
    for (int s = 0; s < SPECIES; ++s) sum -= kExchange * solution(c, k, j, i, s);
    for (long side = -1; side <= 1; side += 2)
        sum -= solution(c, k + side, j, i, species) + solution(c, k, j + side, i, species) +
               solution(c, k, j, i + side, species);
    return sum;
}

/* Never inlined, so that whoever sweeps rounds alike. */
__attribute__((noinline)) static void relax_row(const struct cube* c,
                                                const double inverse[SPECIES][SPECIES], long k,
                                                long j, int back) {
    const long step = back ? -SPECIES : SPECIES, first = back ? c->edge * SPECIES : SPECIES;
    double* u = row_at(c, c->field, k, j) + first;
    const double* f = row_at(c, c->source, k, j) + first;
    for (long i = 0; i < c->edge; ++i, u += step, f += step) {
        double want[SPECIES], now[SPECIES] = {0};
        for (int s = 0; s < SPECIES; ++s)
            want[s] = f[s] + (u[s - SPECIES] + u[s + SPECIES]) + (u[s - c->row] + u[s + c->row]) +
                      (u[s - c->plane] + u[s + c->plane]);
        for (int t = 0; t < SPECIES; ++t)
            for (int s = 0; s < SPECIES; ++s) now[s] += inverse[t][s] * want[t];
        for (int s = 0; s < SPECIES; ++s) u[s] += kRelaxation * (now[s] - u[s]);
    }
}

/* Rows `first` to `last` of every plane, walls included: no field yet, and the source that the
 * solution has. */
static void fill(const struct cube* c, long first, long last) {
    for (long k = 0; k <= c->edge + 1; ++k)
        for (long j = first; j <= last; ++j) {
            double *u = row_at(c, c->field, k, j), *f = row_at(c, c->source, k, j);
            const int wall = k == 0 || k > c->edge || j == 0 || j > c->edge;
            for (long i = 0; i <= c->edge + 1; ++i)
                for (int s = 0; s < SPECIES; ++s) {
                    u[i * SPECIES + s] = 0;
                    f[i * SPECIES + s] = wall ? 0 : source(c, k, j, i, s);
                }
        }
}

static void wait_for(struct progress* of, long planes) {
    while (atomic_load_explicit(&of->planes, memory_order_acquire) < planes) sched_yield();
}

/* All planes of a thread's rows once, after the thread `before` and ahead of the next one. */
static void sweep_slab(struct solver* x, int thread, int before, long first, long last, long done,
                       int back) {
    const struct cube* c = &x->cube;
    for (long n = 1; n <= c->edge; ++n) {
        if (before >= 0 && before < x->threads) wait_for(&x->progress[before], done + n);
        for (long r = 0; r <= last - first; ++r)
            relax_row(c, x->inverse, back ? c->edge + 1 - n : n, back ? last - r : first + r, back);
        atomic_store_explicit(&x->progress[thread].planes, done + n, memory_order_release);
    }
}

static void work(int thread, void* shared) {
    struct solver* x = shared;
    const struct cube* c = &x->cube;
    const long first = 1 + share_begin(c->edge, thread, x->threads);
    const long last = share_begin(c->edge, thread + 1, x->threads);
    fill(c, thread == 0 ? 0 : first, thread == x->threads - 1 ? c->edge + 1 : last);
    begin_roi_together(thread, &x->filled);
    for (long sweep = 0; sweep < x->sweeps; ++sweep) {
        const long done = 2 * sweep * c->edge;
        sweep_slab(x, thread, thread - 1, first, last, done, 0);
        sweep_slab(x, thread, thread + 1, first, last, done + c->edge, 1);
        if (thread == 0) heartbeat();
    }
}

/* One thread, there and back by the sums of plane and row. */
static void sweep_diagonals(const struct solver* x, const struct cube* c) {
    for (int back = 0; back <= 1; ++back)
        for (long diagonal = 2; diagonal <= 2 * c->edge; ++diagonal)
            for (long n = 1; n <= c->edge; ++n) {
                const long r = diagonal - n, size = c->edge + 1;
                if (r < 1 || r > c->edge) continue;
                relax_row(c, x->inverse, back ? size - n : n, back ? size - r : r, back);
            }
}

static int same_as_one_thread(const struct solver* x, const struct cube* again, size_t bytes) {
    memset(again->field, 0, bytes);
    for (long sweep = 0; sweep < x->sweeps; ++sweep) sweep_diagonals(x, again);
    return memcmp(again->field, x->cube.field, bytes) == 0;
}

/* Root of the squared distance to the solution, over that of the start. */
static double error_left(const struct cube* c) {
    double start = 0, end = 0;
    for (long k = 1; k <= c->edge; ++k)
        for (long j = 1; j <= c->edge; ++j)
            for (long n = SPECIES; n < (c->edge + 1) * SPECIES; ++n) {
                const double sought = solution(c, k, j, n / SPECIES, (int)(n % SPECIES));
                const double off = row_at(c, c->field, k, j)[n] - sought;
                start += sought * sought;
                end += off * off;
            }
    return sqrt(end / start);
}

/* How far a sweep moves the solution. */
static double moved(const struct solver* x, const struct cube* again) {
    for (long k = 1; k <= again->edge; ++k)
        for (long j = 1; j <= again->edge; ++j)
            for (long n = SPECIES; n < (again->edge + 1) * SPECIES; ++n)
                row_at(again, again->field, k, j)[n] =
                    solution(again, k, j, n / SPECIES, (int)(n % SPECIES));
    sweep_diagonals(x, again);
    return error_left(again);
}

int main(int argc, char** argv) {
    static struct solver x;
    x.threads = (int)arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS);
    const long edge = arg_long(argc, argv, 2, "EDGE", 1, 1000);
    x.sweeps = arg_long(argc, argv, 3, "SWEEPS", 1, 1000000);
    x.cube = (struct cube){.edge = edge, .row = (edge + 2) * SPECIES};
    x.cube.plane = (edge + 2) * x.cube.row;
    const size_t bytes = (size_t)((edge + 2) * x.cube.plane) * sizeof(double);
    x.cube.field = pages_for(bytes);
    x.cube.source = pages_for(bytes);
    invert_own(x.inverse);
    pthread_barrier_init(&x.filled, NULL, (unsigned)x.threads);
    run_threads(x.threads, work, &x);
    roi_end();

    struct cube again = x.cube;
    again.field = pages_for(bytes);
    const int same = same_as_one_thread(&x, &again, bytes);
    const double left = error_left(&x.cube), off = moved(&x, &again);
    const double expected = fmax(pow(kMostKept, (double)x.sweeps), 1e-13);
    if (!same || !(left <= expected) || !(off <= 1e-13)) {
        printf(
            "wrong: same as one thread's %d, %.3g of the error is left, expected %.3g at most, "
            "the solution moved by %.3g\n",
            same, left, expected, off);
        return 1;
    }
    printf("ok points %ld error %.3g\n", edge * edge * edge, left);
    return 0;
}
