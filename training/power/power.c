/* power: the largest eigenvalue of a dense symmetric matrix, by the power method.
 *
 * usage: power ORDER PRODUCTS          (even ORDER; threads: OMP_NUM_THREADS)
 *
 * Every product reads the whole matrix once, each thread the rows it has filled itself: all that a
 * thread needs again is its own, so it pays to have a last-level cache to oneself.
 * Check: A x = lambda x for the vector found, with A made anew element by element.
 */
#include <math.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

typedef double pair_t __attribute__((vector_size(16)));

/* About one everywhere, so that one eigenvalue, near the order, stands out. */
static double element(long row, long column) {
    const long low = row < column ? row : column, high = row < column ? column : row;
    return 0.5 + rng_unit(1, (uint64_t)high * (uint64_t)(high + 1) / 2 + (uint64_t)low);
}

/* y = A x; returns the square of the length of y. */
static double product(const pair_t* a, const pair_t* x, double* y, long order) {
    const long pairs = order / 2;
    double square = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : square)
    for (long row = 0; row < order; ++row) {
        const pair_t* mine = a + row * pairs;
        pair_t sum = {0.0, 0.0}, other = {0.0, 0.0};
        long j = 0;
        for (; j + 3 < pairs; j += 4) {
            sum += mine[j] * x[j];
            other += mine[j + 1] * x[j + 1];
            sum += mine[j + 2] * x[j + 2];
            other += mine[j + 3] * x[j + 3];
        }
        for (; j < pairs; ++j) sum += mine[j] * x[j];
        sum += other;
        y[row] = sum[0] + sum[1];
        square += y[row] * y[row];
    }
    return square;
}

/* Length of A x - lambda x relative to lambda, from the definition of A. */
static double residual(const double* x, double lambda, long order) {
    double square = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : square)
    for (long row = 0; row < order; ++row) {
        double off = -lambda * x[row];
        for (long column = 0; column < order; ++column) off += element(row, column) * x[column];
        square += off * off;
    }
    return sqrt(square) / lambda;
}

int main(int argc, char** argv) {
    const long order = arg_long(argc, argv, 1, "ORDER", 16, 100000) & ~1L;
    const long products = arg_long(argc, argv, 2, "PRODUCTS", 8, 1000000);
    pair_t* a = pages_for((size_t)(order * order) * sizeof(double));
    pair_t* x = pages_for((size_t)order * sizeof(double));
    double* y = pages_for((size_t)order * sizeof(double));
#pragma omp parallel for schedule(static)
    for (long row = 0; row < order; ++row)
        for (long j = 0; j < order / 2; ++j)
            a[row * (order / 2) + j] = (pair_t){element(row, 2 * j), element(row, 2 * j + 1)};
    for (long j = 0; j < order / 2; ++j)
        x[j] = (pair_t){rng_unit(2, (uint64_t)(2 * j)), rng_unit(2, (uint64_t)(2 * j + 1))};

    double length = 0.0;
    roi_begin();
    for (long k = 0; k < products; ++k) {
        length = sqrt(product(a, x, y, order));
        const double scale = 1.0 / length;
        for (long j = 0; j < order / 2; ++j)
            x[j] = (pair_t){y[2 * j] * scale, y[2 * j + 1] * scale};
        heartbeat();
    }
    roi_end();

    /* x has length one, and had it before the last product, so the length of A x is lambda. */
    const double off = residual((const double*)x, length, order);
    if (!(off < 1e-6)) {
        printf("wrong: A x differs from %.9g x by %.3g\n", length, off);
        return 1;
    }
    printf("ok eigenvalue %.9g\n", length);
    return 0;
}
