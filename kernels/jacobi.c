// Jacobi's method on a square, in strips of rows with a copy of the neighbours' outermost rows.
//
// usage: jacobi THREADS ORDER SWEEPS
//
// As with message passing: each thread has two grids of its own, copies a row from each neighbour,
// and becomes in each point the mean of the four around it; then all meet. Around the square there
// are zeros, and it begins as an eigenvector. Checked: each point.
#include <math.h>
#include <string.h>

#include "kernel.h"

static const double kPi = 3.14159265358979323846;

struct strip {
    long first, rows;
    double* grid[2];
};

struct square {
    int threads;
    long order, sweeps;
    const double *across, *down;
    pthread_barrier_t all;
    struct strip strip[MOST_THREADS];
};

static double* wave(long order, int halves) {
    double* made = calloc((size_t)order + 2, sizeof *made);
    for (long i = 1; i <= order; ++i)
        made[i] = sin(kPi * (double)(halves * i) / (double)(order + 1));
    return made;
}

// Row `row` of the square in the grid of whoever has it, null where there is none.
static const double* row_of(const struct square* q, int owner, int now, long row) {
    const struct strip* s = &q->strip[owner];
    return s->grid[now] + (row - s->first + 1) * (q->order + 2);
}

static int owner_of(const struct square* q, int from, int step, long row) {
    int owner = from;
    while (row < q->strip[owner].first || row >= q->strip[owner].first + q->strip[owner].rows)
        owner += step;  // strips without rows are passed over
    return owner;
}

static void copy_borders(const struct square* q, int number, int now) {
    const struct strip* own = &q->strip[number];
    const long width = q->order + 2, above = own->first - 1, below = own->first + own->rows;
    double* grid = own->grid[now];
    if (above >= 0)
        memcpy(grid, row_of(q, owner_of(q, number, -1, above), now, above),
               (size_t)width * sizeof *grid);
    if (below < q->order)
        memcpy(grid + (own->rows + 1) * width, row_of(q, owner_of(q, number, 1, below), now, below),
               (size_t)width * sizeof *grid);
}

static void sweep(long rows, long order, double* restrict out, const double* restrict in) {
    const long width = order + 2;
    for (long r = 1; r <= rows; ++r) {
        const double* at = in + r * width;
        double* to = out + r * width;
        for (long i = 1; i <= order; ++i)
            to[i] = 0.25 * ((at[i - width] + at[i + width]) + (at[i - 1] + at[i + 1]));
    }
}

static void work(int number, void* job) {
    struct square* q = job;
    struct strip* own = &q->strip[number];
    const long width = q->order + 2;
    const size_t bytes = (size_t)((own->rows + 2) * width) * sizeof(double);
    for (int g = 0; g < 2; ++g) {
        own->grid[g] = untouched(bytes);
        for (long r = 1; r <= own->rows; ++r)
            for (long i = 0; i < width; ++i)
                own->grid[g][r * width + i] = q->down[own->first + r] * q->across[i];
    }
    begin_region_together(number, &q->all);
    for (long s = 0; s < q->sweeps; ++s) {
        const int now = (int)(s % 2);
        if (own->rows > 0) {
            copy_borders(q, number, now);
            sweep(own->rows, q->order, own->grid[1 - now], own->grid[now]);
        }
        pthread_barrier_wait(&q->all);
    }
    end_region_together(number, &q->all);
}

int main(int argc, char** argv) {
    static struct square q;
    q.threads = (int)whole(argc, argv, 1, "THREADS", 1, MOST_THREADS);
    q.order = whole(argc, argv, 2, "ORDER", 1, 1L << 18);
    q.sweeps = whole(argc, argv, 3, "SWEEPS", 1, 1000000);
    const int halves_across = q.order > 5 ? 3 : 1, halves_down = q.order > 5 ? 2 : 1;
    q.across = wave(q.order, halves_across);
    q.down = wave(q.order, halves_down);
    for (int t = 0; t < q.threads; ++t) {
        q.strip[t].first = part_begin(q.order, t, q.threads);
        q.strip[t].rows = part_begin(q.order, t + 1, q.threads) - q.strip[t].first;
    }
    pthread_barrier_init(&q.all, NULL, (unsigned)q.threads);
    work_as_team(q.threads, work, &q);

    const double turn = kPi / (double)(q.order + 1);
    const double factor = (cos(halves_across * turn) + cos(halves_down * turn)) / 2;
    const double scale = pow(factor, (double)q.sweeps);
    long wrong = 0;
    for (int t = 0; t < q.threads; ++t)
        for (long r = 0; r < q.strip[t].rows; ++r) {
            const long row = q.strip[t].first + r;
            const double* got = row_of(&q, t, (int)(q.sweeps % 2), row);
            for (long i = 1; i <= q.order; ++i)
                wrong += !(fabs(got[i] - scale * q.down[row + 1] * q.across[i]) <= 1e-9);
        }
    return verdict(wrong == 0, "%ld of %ld points differ", wrong, q.order * q.order);
}
