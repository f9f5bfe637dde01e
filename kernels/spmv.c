// Sparse matrix times vector, in compressed rows, again and again: x becomes A x.
//
// usage: spmv banded|power-law ROWS SWEEPS
//
// banded: 13 diagonals; each thread fills the rows that it multiplies. power-law: degrees and
// columns follow power laws, as in a web graph; the main thread fills all, as if it read a file.
// Rows are shared out so that each thread has as many entries. Entries are positive, and those of
// the diagonal such that a known vector is halved: it is the largest eigenvector, so errors do not
// grow. Checked: each element.
#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernel.h"

enum { HALF_BAND = 6, MOST_ENTRIES = 1024 };

struct matrix {
    int banded;
    long rows;
    uint64_t* begin;
    uint32_t* column;
    double* value;
};

static double eigenvector(long i) { return 1.0 + (double)(i % 64) / 64.0; }

static long entries_of(const struct matrix* m, long row) {
    if (m->banded) {
        const long low = row < HALF_BAND ? row : HALF_BAND;
        const long high = m->rows - 1 - row < HALF_BAND ? m->rows - 1 - row : HALF_BAND;
        return low + 1 + high;
    }
    const double many = 4.0 / sqrt(scrambled_unit((uint64_t)row) + 1e-9);
    return many < MOST_ENTRIES ? (long)many : MOST_ENTRIES;
}

// Column of entry number `e` of a row, the first of which lies on the diagonal.
static long column_of(const struct matrix* m, long row, long e) {
    if (e == 0) return row;
    if (m->banded) {
        const long first = row < HALF_BAND ? 0 : row - HALF_BAND;
        return first + e - 1 < row ? first + e - 1 : first + e;
    }
    const double place = scrambled_unit((uint64_t)row * MOST_ENTRIES + (uint64_t)e + (1UL << 50));
    return (long)(place * place * place * (double)m->rows);
}

static void fill_row(struct matrix* m, long row) {
    const uint64_t begin = m->begin[row];
    const long count = (long)(m->begin[row + 1] - begin);
    double sum = 0.0;
    for (long e = 1; e < count; ++e) {
        const long column = column_of(m, row, e);
        m->column[begin + (uint64_t)e] = (uint32_t)column;
        m->value[begin + (uint64_t)e] = 0.2 / (double)count;
        sum += 0.2 / (double)count * eigenvector(column);
    }
    m->column[begin] = (uint32_t)row;
    m->value[begin] = 0.5 - sum / eigenvector(row);
}

// The first row of a part of the threads: one that begins at or after its share of the entries.
static long first_row(const struct matrix* m, int part, int parts) {
    const uint64_t share = (uint64_t)part_begin((long)m->begin[m->rows], part, parts);
    long low = 0, high = m->rows;
    while (low < high) {
        const long middle = (low + high) / 2;
        if (m->begin[middle] < share) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void fill(struct matrix* m, double* x, double* y) {
    for (long row = 0; row < m->rows; ++row)
        m->begin[row + 1] = m->begin[row] + (uint64_t)entries_of(m, row);
    m->column = untouched(m->begin[m->rows] * sizeof *m->column);
    m->value = untouched(m->begin[m->rows] * sizeof *m->value);
#pragma omp parallel if (m->banded)
    {
        const int part = omp_get_thread_num(), parts = omp_get_num_threads();
        const long end = first_row(m, part + 1, parts);
        for (long row = first_row(m, part, parts); row < end; ++row) {
            fill_row(m, row);
            x[row] = eigenvector(row);
            y[row] = 0.0;
        }
    }
}

static void multiply(const struct matrix* m, double* restrict y, const double* restrict x) {
#pragma omp parallel
    {
        const int part = omp_get_thread_num(), parts = omp_get_num_threads();
        const uint32_t* column = m->column;
        const double* value = m->value;
        const long end = first_row(m, part + 1, parts);
        for (long row = first_row(m, part, parts); row < end; ++row) {
            double sum = 0.0;
            for (uint64_t e = m->begin[row]; e < m->begin[row + 1]; ++e)
                sum += value[e] * x[column[e]];
            y[row] = sum;
        }
    }
}

int main(int argc, char** argv) {
    struct matrix m = {0};
    m.banded = argc > 1 && strcmp(argv[1], "banded") == 0;
    if (!m.banded && (argc < 2 || strcmp(argv[1], "power-law") != 0)) {
        fprintf(stderr, "%s: argument 1 is a matrix, expected banded or power-law\n", argv[0]);
        return 2;
    }
    m.rows = whole(argc, argv, 2, "ROWS", 1, 1L << 32);
    const long sweeps = whole(argc, argv, 3, "SWEEPS", 1, 1000);
    const size_t bytes = (size_t)m.rows * sizeof(double);
    double *x = untouched(bytes), *y = untouched(bytes);
    m.begin = untouched((size_t)(m.rows + 1) * sizeof *m.begin);
    fill(&m, x, y);

    begin_region();
    for (long s = 0; s < sweeps; ++s) {
        multiply(&m, y, x);
        double* last = x;
        x = y;
        y = last;
    }
    end_region();

    const double halved = ldexp(1.0, (int)-sweeps);
    long wrong = 0;
    for (long i = 0; i < m.rows; ++i) {
        const double expected = halved * eigenvector(i);
        wrong += !(fabs(x[i] - expected) <= 1e-9 * expected);
    }
    return verdict(wrong == 0, "%ld of %ld elements differ, %lu entries", wrong, m.rows,
                   m.begin[m.rows]);
}
