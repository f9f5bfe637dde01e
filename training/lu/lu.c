/* lu: factors a dense matrix into a lower and an upper triangle, block by block.
 *
 * usage: lu BLOCKS [MATRICES]          (32 * BLOCKS rows each; threads: OMP_NUM_THREADS)
 *
 * Right-looking elimination without pivoting on a diagonally dominant matrix whose blocks of 32 x
 * 32 lie contiguously (Woo et al., SPLASH-2, 1995, describe the layout). Step by step one diagonal
 * block is factored, then its row and column of blocks, which all threads then read while they
 * update the rest; the work left shrinks from step to step. Of several MATRICES, each takes the place
 * of the last, as Newton's method makes a matrix anew in every step.
 * Check: L (U x) equals A x for a vector x, with A made anew.
 */
#include <math.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

enum { SIDE = 32, PAIRS = SIDE / 2 };

typedef double pair_t __attribute__((vector_size(16)));

/* A block, by rows; two columns to a vector. */
union block {
    double at[SIDE][SIDE];
    pair_t pair[SIDE][PAIRS];
};

static double element(long matrix, long row, long column, long order) {
    const uint64_t stream = 1 + 2 * (uint64_t)matrix;
    const double value = rng_unit(stream, (uint64_t)(row * order + column)) - 0.5;
    return row == column ? value + 0.5 * (double)order : value;
}

static void factor_diagonal(union block* d) {
    for (int k = 0; k < SIDE; ++k)
        for (int i = k + 1; i < SIDE; ++i) {
            const double l = d->at[i][k] /= d->at[k][k];
            for (int j = k + 1; j < SIDE; ++j) d->at[i][j] -= l * d->at[k][j];
        }
}

/* Block of the row of the diagonal block: solve L x = b. */
static void solve_lower(const union block* d, union block* b) {
    for (int k = 0; k < SIDE; ++k)
        for (int i = k + 1; i < SIDE; ++i) {
            const double l = d->at[i][k];
            for (int j = 0; j < PAIRS; ++j) b->pair[i][j] -= l * b->pair[k][j];
        }
}

/* Block of the column of the diagonal block: solve x U = b. */
static void solve_upper(const union block* d, union block* b) {
    for (int i = 0; i < SIDE; ++i)
        for (int k = 0; k < SIDE; ++k) {
            const double x = b->at[i][k] /= d->at[k][k];
            for (int j = k + 1; j < SIDE; ++j) b->at[i][j] -= x * d->at[k][j];
        }
}

static void subtract_product(union block* c, const union block* a, const union block* b) {
    for (int i = 0; i < SIDE; ++i)
        for (int k = 0; k < SIDE; k += 4) {
            const double a0 = a->at[i][k], a1 = a->at[i][k + 1];
            const double a2 = a->at[i][k + 2], a3 = a->at[i][k + 3];
            for (int j = 0; j < PAIRS; ++j)
                c->pair[i][j] -= a0 * b->pair[k][j] + a1 * b->pair[k + 1][j] +
                                 a2 * b->pair[k + 2][j] + a3 * b->pair[k + 3][j];
        }
}

static void factor(union block* m, long blocks) {
#pragma omp parallel
    for (long k = 0; k < blocks; ++k) {
        const union block* diagonal = &m[k * blocks + k];
#pragma omp single
        factor_diagonal(&m[k * blocks + k]);
#pragma omp for schedule(static, 1)
        for (long i = 2 * (k + 1); i < 2 * blocks; ++i) {
            if (i % 2)
                solve_upper(diagonal, &m[i / 2 * blocks + k]);
            else
                solve_lower(diagonal, &m[k * blocks + i / 2]);
        }
#pragma omp for collapse(2) schedule(static)
        for (long i = k + 1; i < blocks; ++i)
            for (long j = k + 1; j < blocks; ++j)
                subtract_product(&m[i * blocks + j], &m[i * blocks + k], &m[k * blocks + j]);
#pragma omp master
        heartbeat();
    }
}

/* Block rows are shared out among the threads. */
static void fill(union block* m, long blocks, long matrix) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < blocks * SIDE; ++i)
        for (long j = 0; j < blocks * SIDE; ++j)
            m[i / SIDE * blocks + j / SIDE].at[i % SIDE][j % SIDE] =
                element(matrix, i, j, blocks * SIDE);
}

static double factored(const union block* m, long blocks, long row, long column) {
    return m[row / SIDE * blocks + column / SIDE].at[row % SIDE][column % SIDE];
}

/* Largest difference between L (U x) and A x, relative to the largest element of A x. */
static double residual(const union block* m, long blocks, long matrix) {
    const long order = blocks * SIDE;
    double* x = pages_for((size_t)order * sizeof *x);
    double* upper = pages_for((size_t)order * sizeof *upper);
    double worst = 0.0, largest = 0.0;
    for (long i = 0; i < order; ++i) x[i] = rng_unit(2, (uint64_t)i) - 0.5;
#pragma omp parallel for schedule(dynamic, 8)
    for (long i = 0; i < order; ++i) {
        upper[i] = 0.0;
        for (long j = i; j < order; ++j) upper[i] += factored(m, blocks, i, j) * x[j];
    }
#pragma omp parallel for schedule(static) reduction(max : worst, largest)
    for (long i = 0; i < order; ++i) {
        double product = upper[i], expected = 0.0;
        for (long j = 0; j < i; ++j) product += factored(m, blocks, i, j) * upper[j];
        for (long j = 0; j < order; ++j) expected += element(matrix, i, j, order) * x[j];
        worst = fmax(worst, fabs(product - expected));
        largest = fmax(largest, fabs(expected));
    }
    free(x);
    free(upper);
    return worst / largest;
}

int main(int argc, char** argv) {
    const long blocks = arg_long(argc, argv, 1, "BLOCKS", 1, 1000);
    const long matrices = arg_long_or(argc, argv, 2, "MATRICES", 1, 1000000, 1);
    const long order = blocks * SIDE;
    union block* m = pages_for((size_t)(blocks * blocks) * sizeof *m);
    fill(m, blocks, 0);

    roi_begin();
    for (long matrix = 0; matrix < matrices; ++matrix) {
        if (matrix > 0) fill(m, blocks, matrix);
        factor(m, blocks);
    }
    roi_end();

    const double off = residual(m, blocks, matrices - 1);
    if (!(off < 1e-12 * (double)order)) {
        printf("wrong: L U x differs from A x by %.3g\n", off);
        return 1;
    }
    printf("ok order %ld last_pivot %.9g\n", order, factored(m, blocks, order - 1, order - 1));
    return 0;
}
