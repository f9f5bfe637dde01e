/* lbm: a fluid in a periodic square by the lattice Boltzmann method, nine velocities in the plane.
 *
 * usage: lbm TILE STEPS          (8 x 8 tiles of TILE x TILE cells; threads: OMP_NUM_THREADS)
 *
 * Bhatnagar-Gross-Krook collisions with one relaxation time, pulled from one array into another:
 * nine loads and nine stores for each cell, which no other cell of the step shares. The rows are
 * shared out statically and every thread fills the rows it will work on.
 * Check: the start repeats from tile to tile, so every tile must stay equal to a single periodic
 * tile that one thread computes; mass is kept.
 */
#include <math.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"

enum { TILES = 8, VELOCITIES = 9 };

static const double kRate = 1.25; /* one over the relaxation time */

/* A square of `edge` x `edge` cells before and after a step: for each row the cells of one velocity
 * after the other. */
struct square {
    long edge;
    double *now, *next;
};

static size_t values_of(long edge) { return (size_t)edge * VELOCITIES * (size_t)edge; }

static double* stream_of(double* field, long edge, long row, int velocity) {
    return field + (row * VELOCITIES + velocity) * edge;
}

static void equilibrium(double u, double v, double f[VELOCITIES]) {
    static const double cx[VELOCITIES] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    static const double cy[VELOCITIES] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    for (int k = 0; k < VELOCITIES; ++k) {
        const double weight = k == 0 ? 4.0 / 9.0 : k < 5 ? 1.0 / 9.0 : 1.0 / 36.0;
        const double along = 3.0 * (cx[k] * u + cy[k] * v);
        f[k] = weight * (1.0 + along + 0.5 * along * along - 1.5 * (u * u + v * v));
    }
}

/* Eddies that repeat in every tile, at rest on the whole and of density one. */
static struct square filled(long edge, long tile) {
    const size_t bytes = values_of(edge) * sizeof(double);
    const struct square s = {edge, pages_for(bytes), pages_for(bytes)};
    const double turn = 2.0 * 3.14159265358979323846 / (double)tile;
#pragma omp parallel for schedule(static)
    for (long j = 0; j < edge; ++j) {
        double* const next = stream_of(s.next, edge, j, 0);
        for (long i = 0; i < VELOCITIES * edge; ++i) next[i] = 0.0;
        const double y = turn * (double)(j % tile);
        for (long i = 0; i < edge; ++i) {
            const double x = turn * (double)(i % tile);
            double f[VELOCITIES];
            equilibrium(0.05 * sin(x) * cos(y), -0.04 * cos(x) * sin(y), f);
            for (int k = 0; k < VELOCITIES; ++k) stream_of(s.now, edge, j, k)[i] = f[k];
        }
    }
    return s;
}

/* Cells `first` to `last` of row `j`; `west` and `east` lead to their neighbours. A compiler cannot
 * see that the streams lie apart: the pragma says that cells may be worked on at once. */
static void collide_cells(struct square s, long j, long first, long last, long west, long east) {
    const long n = s.edge, south = j == 0 ? n - 1 : j - 1, north = j == n - 1 ? 0 : j + 1;
    const double *from1 = stream_of(s.now, n, j, 0), *from2 = stream_of(s.now, n, j, 1) + west;
    const double *from3 = stream_of(s.now, n, south, 2), *from4 = stream_of(s.now, n, j, 3) + east;
    const double* from5 = stream_of(s.now, n, north, 4);
    const double* from6 = stream_of(s.now, n, south, 5) + west;
    const double* from7 = stream_of(s.now, n, south, 6) + east;
    const double* from8 = stream_of(s.now, n, north, 7) + east;
    const double* from9 = stream_of(s.now, n, north, 8) + west;
    double* const to = stream_of(s.next, n, j, 0);
#pragma omp simd
    for (long i = first; i <= last; ++i) {
        const double f1 = from1[i], f2 = from2[i], f3 = from3[i], f4 = from4[i], f5 = from5[i];
        const double f6 = from6[i], f7 = from7[i], f8 = from8[i], f9 = from9[i];
        const double density = f1 + ((f2 + f4) + (f3 + f5)) + ((f6 + f8) + (f7 + f9));
        const double u = ((f2 - f4) + (f6 - f8) + (f9 - f7)) / density;
        const double v = ((f3 - f5) + (f6 - f8) + (f7 - f9)) / density;
        const double still = 1.0 - 1.5 * (u * u + v * v);
        const double side = kRate * density / 9.0, corner = 0.25 * side;
        const double a = u + v, b = u - v, keep = 1.0 - kRate;
        to[i] = keep * f1 + 4.0 * side * still;
        to[i + 1 * n] = keep * f2 + side * (still + 3.0 * u + 4.5 * u * u);
        to[i + 3 * n] = keep * f4 + side * (still - 3.0 * u + 4.5 * u * u);
        to[i + 2 * n] = keep * f3 + side * (still + 3.0 * v + 4.5 * v * v);
        to[i + 4 * n] = keep * f5 + side * (still - 3.0 * v + 4.5 * v * v);
        to[i + 5 * n] = keep * f6 + corner * (still + 3.0 * a + 4.5 * a * a);
        to[i + 7 * n] = keep * f8 + corner * (still - 3.0 * a + 4.5 * a * a);
        to[i + 8 * n] = keep * f9 + corner * (still + 3.0 * b + 4.5 * b * b);
        to[i + 6 * n] = keep * f7 + corner * (still - 3.0 * b + 4.5 * b * b);
    }
}

static void collide_row(struct square s, long j) {
    const long n = s.edge;
    collide_cells(s, j, 0, 0, n - 1, 1);
    collide_cells(s, j, 1, n - 2, -1, 1);
    collide_cells(s, j, n - 1, n - 1, -1, 1 - n);
}

static void swap(struct square* s) {
    double* const done = s->next;
    s->next = s->now;
    s->now = done;
}

static void step(struct square* s) {
#pragma omp parallel for schedule(static)
    for (long j = 0; j < s->edge; ++j) collide_row(*s, j);
    swap(s);
}

static void step_alone(struct square* s) {
    for (long j = 0; j < s->edge; ++j) collide_row(*s, j);
    swap(s);
}

/* Largest flow to the east anywhere. */
static double fastest(struct square s) {
    double speed = 0.0;
    for (long j = 0; j < s.edge; ++j)
        for (long i = 0; i < s.edge; ++i) {
            const double* f = stream_of(s.now, s.edge, j, 0) + i;
            const long n = s.edge;
            speed = fmax(speed, f[n] - f[3 * n] + f[5 * n] - f[7 * n] + f[8 * n] - f[6 * n]);
        }
    return speed;
}

int main(int argc, char** argv) {
    const long tile = arg_long(argc, argv, 1, "TILE", 4, 4000);
    const long steps = arg_long(argc, argv, 2, "STEPS", 1, 1000000);
    const long edge = TILES * tile;
    struct square all = filled(edge, tile), one = filled(tile, tile);

    roi_begin();
    for (long i = 0; i < steps; ++i) {
        step(&all);
        if (i % 2 == 1 || i == steps - 1) heartbeat();
    }
    roi_end();
    for (long i = 0; i < steps; ++i) step_alone(&one);

    double worst = 0.0, mass = 0.0;
#pragma omp parallel for schedule(static) reduction(max : worst) reduction(+ : mass)
    for (long j = 0; j < edge; ++j)
        for (int k = 0; k < VELOCITIES; ++k) {
            const double* here = stream_of(all.now, edge, j, k);
            const double* expected = stream_of(one.now, tile, j % tile, k);
            for (long i = 0; i < edge; ++i) {
                const double off = fabs(here[i] - expected[i % tile]);
                if (!(off <= worst)) worst = isnan(off) ? INFINITY : off;
                mass += here[i];
            }
        }
    const double expected = (double)edge * (double)edge;
    if (!(worst < 1.0e-12 && fabs(mass - expected) < 1.0e-9 * expected)) {
        printf("wrong: a cell is off by %.3e, mass %.7e instead of %.7e\n", worst, mass, expected);
        return 1;
    }
    printf("ok cells %ld speed %.7e\n", edge * edge, fastest(all));
    return 0;
}
