// 27-point stencil: each point of a cube becomes a weighted mean of itself and its 26 neighbours.
//
// usage: stencil27 EDGE SWEEPS
//
// Planes are shared out, and filled by the threads that compute them; around the cube there are
// zeros. The weights are those of (1/4, 1/2, 1/4) along each axis, so a cube that begins as a
// product of three rows stays one. Checked: each point, against one row that was smoothed by
// itself.
#include <math.h>

#include "kernel.h"

static double begin_of(long i) { return 1.0 + (double)(i * i % 7); }

static void sweep(long edge, double* restrict out, const double* restrict in) {
    const long row = edge + 2, plane = row * row;
#pragma omp parallel for schedule(static)
    for (long k = 1; k <= edge; ++k)
        for (long j = 1; j <= edge; ++j) {
            const double* at = in + k * plane + j * row;
            const double *low = at - plane, *high = at + plane;
            double* to = out + k * plane + j * row;
            for (long i = 1; i <= edge; ++i) {
                const double faces =
                    low[i] + high[i] + at[i - row] + at[i + row] + at[i - 1] + at[i + 1];
                const double edges = low[i - row] + low[i + row] + low[i - 1] + low[i + 1] +
                                     high[i - row] + high[i + row] + high[i - 1] + high[i + 1] +
                                     at[i - row - 1] + at[i - row + 1] + at[i + row - 1] +
                                     at[i + row + 1];
                const double corners = low[i - row - 1] + low[i - row + 1] + low[i + row - 1] +
                                       low[i + row + 1] + high[i - row - 1] + high[i - row + 1] +
                                       high[i + row - 1] + high[i + row + 1];
                to[i] = at[i] / 8 + faces / 16 + edges / 32 + corners / 64;
            }
        }
}

// One row of the product after `sweeps` sweeps.
static double* smoothed_row(long edge, long sweeps) {
    double* row = calloc((size_t)edge + 2, sizeof *row);
    for (long i = 1; i <= edge; ++i) row[i] = begin_of(i);
    for (long s = 0; s < sweeps; ++s) {
        double before = 0.0;
        for (long i = 1; i <= edge; ++i) {
            const double here = row[i];
            row[i] = before / 4 + here / 2 + row[i + 1] / 4;
            before = here;
        }
    }
    return row;
}

int main(int argc, char** argv) {
    const long edge = whole(argc, argv, 1, "EDGE", 1, 1L << 12);
    const long sweeps = whole(argc, argv, 2, "SWEEPS", 1, 1000000);
    const long row = edge + 2, plane = row * row;
    const size_t bytes = (size_t)(plane * row) * sizeof(double);
    double *cube = untouched(bytes), *other = untouched(bytes);
    // From 1 on as in the sweeps; what lies around is zero as the system gives it.
#pragma omp parallel for schedule(static)
    for (long k = 1; k <= edge; ++k)
        for (long j = 1; j <= edge; ++j)
            for (long i = 1; i <= edge; ++i) {
                cube[k * plane + j * row + i] = begin_of(k) * begin_of(j) * begin_of(i);
                other[k * plane + j * row + i] = 0.0;
            }

    begin_region();
    for (long s = 0; s < sweeps; ++s) {
        sweep(edge, other, cube);
        double* last = cube;
        cube = other;
        other = last;
    }
    end_region();

    const double* right = smoothed_row(edge, sweeps);
    long wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (long k = 1; k <= edge; ++k)
        for (long j = 1; j <= edge; ++j)
            for (long i = 1; i <= edge; ++i) {
                const double expected = right[k] * right[j] * right[i];
                wrong += !(fabs(cube[k * plane + j * row + i] - expected) <= 1e-9 * expected);
            }
    return verdict(wrong == 0, "%ld of %ld points differ", wrong, edge * edge * edge);
}
