// Matrix product by blocks: C = A B, of a tall A and a small B.
//
// usage: matmul ROWS ORDER SWEEPS          (A and C: ROWS x ORDER, B: ORDER x ORDER, a multiple of
// 8)
//
// Rows of A and C are shared out by blocks of 64, and filled by the threads that use them; all
// threads read B. A tile of 4 x 8 of C stays in registers. Elements are small whole numbers, so
// that sums are exact. Checked: C times a vector is A times (B times it).
#include "kernel.h"

enum { BLOCK = 64, TILE_ROWS = 4, TILE_COLUMNS = 8 };

static double a_of(long i, long k) { return (double)((i * 7 + k * 3) % 11 - 5); }
static double b_of(long k, long j) { return (double)((k * 5 + j) % 13 - 6); }

// Four elements side by side, wherever they lie.
typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));

// Adds the product over k < depth to `rows` x 8 elements of C.
static inline __attribute__((always_inline)) void add_tile(long rows, long depth, long order,
                                                           double* c, const double* a,
                                                           const double* b) {
    quad left[TILE_ROWS] = {{0.0}}, right[TILE_ROWS] = {{0.0}};
    for (long k = 0; k < depth; ++k) {
        const quad b_left = *(const quad*)(b + k * order);
        const quad b_right = *(const quad*)(b + k * order + 4);
#pragma GCC unroll 4
        for (long i = 0; i < rows; ++i) {
            left[i] += a[i * order + k] * b_left;
            right[i] += a[i * order + k] * b_right;
        }
    }
    for (long i = 0; i < rows; ++i) {
        *(quad*)(c + i * order) += left[i];
        *(quad*)(c + i * order + 4) += right[i];
    }
}

static void add_block(long rows, long depth, long columns, long order, double* c, const double* a,
                      const double* b) {
    for (long i = 0; i < rows; i += TILE_ROWS)
        for (long j = 0; j < columns; j += TILE_COLUMNS)
            if (rows - i >= TILE_ROWS) {
                add_tile(TILE_ROWS, depth, order, c + i * order + j, a + i * order, b + j);
            } else {
                add_tile(rows - i, depth, order, c + i * order + j, a + i * order, b + j);
            }
}

static long least(long one, long other) { return one < other ? one : other; }

static void multiply(long rows, long order, double* c, const double* a, const double* b) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < rows; i += BLOCK) {
        const long high = least(BLOCK, rows - i);
        for (long e = i * order; e < (i + high) * order; ++e) c[e] = 0.0;
        for (long j = 0; j < order; j += BLOCK)
            for (long k = 0; k < order; k += BLOCK)
                add_block(high, least(BLOCK, order - k), least(BLOCK, order - j), order,
                          c + i * order + j, a + i * order + k, b + k * order + j);
    }
}

int main(int argc, char** argv) {
    const long rows = whole(argc, argv, 1, "ROWS", 1, 1L << 28);
    const long order = whole(argc, argv, 2, "ORDER", TILE_COLUMNS, 1L << 14);
    const long sweeps = whole(argc, argv, 3, "SWEEPS", 1, 1000000);
    if (order % TILE_COLUMNS != 0) {
        fprintf(stderr, "%s: ORDER is %ld, expected a multiple of 8\n", argv[0], order);
        return 2;
    }
    double* a = untouched((size_t)(rows * order) * sizeof *a);
    double* c = untouched((size_t)(rows * order) * sizeof *c);
    double* b = untouched((size_t)(order * order) * sizeof *b);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < rows; i += BLOCK)
        for (long r = i; r < least(i + BLOCK, rows); ++r)
            for (long k = 0; k < order; ++k) {
                a[r * order + k] = a_of(r, k);
                c[r * order + k] = 0.0;
            }
#pragma omp parallel for schedule(static)
    for (long k = 0; k < order; ++k)
        for (long j = 0; j < order; ++j) b[k * order + j] = b_of(k, j);

    begin_region();
    for (long s = 0; s < sweeps; ++s) multiply(rows, order, c, a, b);
    end_region();

    double* product = calloc((size_t)order, sizeof *product);
    for (long k = 0; k < order; ++k)
        for (long j = 0; j < order; ++j) product[k] += b[k * order + j] * (double)(j % 5 + 1);
    long wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (long i = 0; i < rows; ++i) {
        double expected = 0.0, got = 0.0;
        for (long k = 0; k < order; ++k) {
            expected += a[i * order + k] * product[k];
            got += c[i * order + k] * (double)(k % 5 + 1);
        }
        wrong += got != expected;
    }
    return verdict(wrong == 0, "%ld of %ld rows differ", wrong, rows);
}
