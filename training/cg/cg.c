/* cg: conjugate gradients on a large sparse system with four unknowns at each grid point.
 *
 * usage: cg EDGE ITERATIONS [SOLVES]          (grid of EDGE^3 points; threads: OMP_NUM_THREADS)
 *
 * The symmetric matrix is kept in block rows (column numbers and dense 4 x 4 blocks), as finite
 * elements give it; one product streams it once from memory, so the program is bound by bandwidth.
 * Every thread fills the rows it will use. Several SOLVES have a right side each, as the steps of a
 * simulation have.
 * Check: the residual of the recurrence equals b - A x worked out anew, it shrank, and it is
 * orthogonal to the first one, as conjugate directions make it.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

typedef double pair_t __attribute__((vector_size(16)));

/* Four values, or a column of a block. */
struct quad {
    pair_t low, high;
};

struct matrix_block {
    struct quad column[4];
};

enum { MAX_NEIGHBOURS = 7 };

/* Rows have room for seven blocks; those at the faces of the grid use fewer. */
struct matrix {
    long edge, rows;
    int* count;
    int32_t (*column)[MAX_NEIGHBOURS + 1];
    struct matrix_block (*block)[MAX_NEIGHBOURS];
};

/* Strength of the coupling between two points: the same from both sides. */
static double coupling(long a, long b, int i, int j) {
    const uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    const double value = rng_unit(low, high * 16 + (uint64_t)(i < j ? i * 4 + j : j * 4 + i));
    return i == j ? 0.5 + value : 0.1 * (value - 0.5);
}

static void set(struct matrix_block* b, int i, int j, double value) {
    if (i < 2)
        b->column[j].low[i] = value;
    else
        b->column[j].high[i - 2] = value;
}

/* Fills one block row: minus the couplings beside the diagonal, and on it their sum and a little
 * more, which makes the matrix positive definite. */
static void fill_row(struct matrix* m, long row) {
    const long e = m->edge;
    const long place[3] = {row % e, row / e % e, row / (e * e)};
    const long step[3] = {1, e, e * e};
    struct matrix_block diagonal;
    double sum[4][4] = {{0.0}};
    int used = 1;
    for (int side = 0; side < 6; ++side) {
        const int axis = side / 2, up = side % 2;
        if (place[axis] == (up ? e - 1 : 0)) continue;
        const long other = row + (up ? step[axis] : -step[axis]);
        struct matrix_block block;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
                const double c = coupling(row, other, i, j);
                set(&block, i, j, -c);
                sum[i][j] += c;
            }
        m->column[row][used] = (int32_t)other;
        m->block[row][used++] = block;
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) set(&diagonal, i, j, sum[i][j] + (i == j ? 2.0 : 0.0));
    m->column[row][0] = (int32_t)row;
    m->block[row][0] = diagonal;
    m->count[row] = used;
}

static inline pair_t both(double value) { return (pair_t){value, value}; }

static inline struct quad row_product(const struct matrix* m, const struct quad* x, long row) {
    pair_t low = {0.0, 0.0}, high = {0.0, 0.0};
    const int count = m->count[row];
    for (int n = 0; n < count; ++n) {
        const struct matrix_block* b = &m->block[row][n];
        const struct quad* v = &x[m->column[row][n]];
        const pair_t first = v->low, second = v->high;
        low += b->column[0].low * both(first[0]) + b->column[1].low * both(first[1]) +
               b->column[2].low * both(second[0]) + b->column[3].low * both(second[1]);
        high += b->column[0].high * both(first[0]) + b->column[1].high * both(first[1]) +
                b->column[2].high * both(second[0]) + b->column[3].high * both(second[1]);
    }
    return (struct quad){low, high};
}

static inline double dot(struct quad a, struct quad b) {
    const pair_t p = a.low * b.low + a.high * b.high;
    return p[0] + p[1];
}

static inline struct quad add_scaled(struct quad a, double scale, struct quad b) {
    return (struct quad){a.low + both(scale) * b.low, a.high + both(scale) * b.high};
}

static struct quad* vector_for(long rows) { return pages_for((size_t)rows * sizeof(struct quad)); }

static struct quad right_side(long solve, long row) {
    const uint64_t s = 1 + (uint64_t)solve, i = (uint64_t)row;
    return (struct quad){{rng_unit(s, 4 * i), rng_unit(s, 4 * i + 1)},
                         {rng_unit(s, 4 * i + 2), rng_unit(s, 4 * i + 3)}};
}

/* The solution so far, the residual, the direction of search and its product with the matrix. */
struct vectors {
    struct quad *x, *r, *p, *q;
};

/* Starts from zero; returns the square of the first residual. */
static double start(const struct vectors* v, long rows, long solve) {
    double rr = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : rr)
    for (long i = 0; i < rows; ++i) {
        v->x[i] = v->q[i] = (struct quad){{0.0, 0.0}, {0.0, 0.0}};
        v->r[i] = v->p[i] = right_side(solve, i);
        rr += dot(v->r[i], v->r[i]);
    }
    return rr;
}

/* Returns the square of the last residual; `rr` is that of the first. */
static double iterate(const struct matrix* m, const struct vectors* v, double rr, long iterations) {
    struct quad *x = v->x, *r = v->r, *p = v->p, *q = v->q;
    for (long k = 0; k < iterations; ++k) {
        double pq = 0.0, next = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : pq)
        for (long i = 0; i < m->rows; ++i) {
            q[i] = row_product(m, p, i);
            pq += dot(p[i], q[i]);
        }
        const double alpha = rr / pq;
#pragma omp parallel for schedule(static) reduction(+ : next)
        for (long i = 0; i < m->rows; ++i) {
            x[i] = add_scaled(x[i], alpha, p[i]);
            r[i] = add_scaled(r[i], -alpha, q[i]);
            next += dot(r[i], r[i]);
        }
        const double beta = next / rr;
        rr = next;
#pragma omp parallel for schedule(static)
        for (long i = 0; i < m->rows; ++i) p[i] = add_scaled(r[i], beta, p[i]);
        heartbeat();
    }
    return rr;
}

int main(int argc, char** argv) {
    struct matrix m;
    m.edge = arg_long(argc, argv, 1, "EDGE", 2, 1000);
    const long iterations = arg_long(argc, argv, 2, "ITERATIONS", 1, 100000);
    const long solves = arg_long_or(argc, argv, 3, "SOLVES", 1, 100000, 1);
    m.rows = m.edge * m.edge * m.edge;
    m.count = pages_for((size_t)m.rows * sizeof *m.count);
    m.column = pages_for((size_t)m.rows * sizeof *m.column);
    m.block = pages_for((size_t)m.rows * sizeof *m.block);
    const struct vectors v = {vector_for(m.rows), vector_for(m.rows), vector_for(m.rows),
                              vector_for(m.rows)};
#pragma omp parallel for schedule(static)
    for (long i = 0; i < m.rows; ++i) fill_row(&m, i);
    double at_start = start(&v, m.rows, 0), rr = 0.0;

    roi_begin();
    for (long solve = 0; solve < solves; ++solve) {
        if (solve > 0) at_start = start(&v, m.rows, solve);
        rr = iterate(&m, &v, at_start, iterations);
    }
    roi_end();

    double difference = 0.0, along_first = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : difference, along_first)
    for (long i = 0; i < m.rows; ++i) {
        const struct quad first = right_side(solves - 1, i);
        const struct quad exact = add_scaled(first, -1.0, row_product(&m, v.x, i));
        const struct quad off = add_scaled(exact, -1.0, v.r[i]);
        difference += dot(off, off);
        along_first += dot(v.r[i], first);
    }
    const double shrunk = sqrt(rr / at_start), off = sqrt(difference / at_start);
    const double along = fabs(along_first) / at_start;
    if (!(off < 1e-10) || !(along < 1e-10) ||
        !(shrunk < pow(0.7, (double)(iterations < 50 ? iterations : 50)))) {
        printf("wrong: residual down to %.3g, off from b - A x by %.3g, along the first %.3g\n",
               shrunk, off, along);
        return 1;
    }
    printf("ok unknowns %ld residual %.4g\n", 4 * m.rows, shrunk);
    return 0;
}
