/* stencil: diffusion of heat through a cube, a seven-point stencil swept over two arrays.
 *
 * usage: stencil EDGE SWEEPS          (even EDGE; threads: OMP_NUM_THREADS)
 *
 * Each sweep streams both arrays once, two points to a vector, so it is bound by memory bandwidth
 * unless the caches of a thread hold its planes until the next sweep. The planes are shared out
 * statically and every thread fills the planes it will sweep.
 * Check: the start is an eigenvector of the stencil, so every point of it shrinks by a known factor
 * in each sweep; every fourth row in full and the ends of the others are compared with it.
 */
#include <math.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"

typedef double pair_t __attribute__((vector_size(16)));
typedef long long index_t __attribute__((vector_size(16)));

static const double kStrength = 0.15;

/* A cube of edge^3 points with a border of zeros that keeps its temperature. A row has one pair in
 * front of its points and one behind, so that the points themselves are whole pairs. */
struct cube {
    long edge, row, plane; /* points across, pairs in a row, pairs in a plane */
};

static struct cube cube_of(long edge) {
    const long row = edge / 2 + 2;
    return (struct cube){edge, row, row * (edge + 2)};
}

static double wave(long i, long edge) {
    return sin(3.14159265358979323846 * (double)i / (double)(edge + 1));
}

static void fill(struct cube c, pair_t* from, pair_t* to) {
    double* along = pages_for((size_t)(2 * c.row) * sizeof *along);
    for (long i = 0; i < 2 * c.row; ++i) {
        const long point = i - 1; /* the pair in front ends with point 0 */
        along[i] = point < 1 || point > c.edge ? 0.0 : wave(point, c.edge);
    }
#pragma omp parallel for schedule(static)
    for (long k = 0; k < c.edge + 2; ++k)
        for (long j = 0; j < c.edge + 2; ++j) {
            const int border = k == 0 || k > c.edge || j == 0 || j > c.edge;
            const double height = border ? 0.0 : along[k + 1] * along[j + 1];
            for (long i = 0; i < c.row; ++i) {
                from[k * c.plane + j * c.row + i] =
                    (pair_t){height * along[2 * i], height * along[2 * i + 1]};
                to[k * c.plane + j * c.row + i] = (pair_t){0.0, 0.0};
            }
        }
    free(along);
}

static void diffuse(struct cube c, const pair_t* restrict from, pair_t* restrict to) {
    const pair_t strength = {kStrength, kStrength};
    const pair_t keep = {1.0 - 6.0 * kStrength, 1.0 - 6.0 * kStrength};
#pragma omp parallel for schedule(static)
    for (long k = 1; k <= c.edge; ++k)
        for (long j = 1; j <= c.edge; ++j) {
            const pair_t* row = from + k * c.plane + j * c.row;
            const pair_t *north = row - c.row, *south = row + c.row;
            const pair_t *below = row - c.plane, *above = row + c.plane;
            pair_t* out = to + k * c.plane + j * c.row;
            /* The row's pairs are carried along, so each is loaded once. */
            pair_t before = row[0], here = row[1];
            for (long i = 1; i <= c.edge / 2; ++i) {
                const pair_t after = row[i + 1];
                const pair_t left = __builtin_shuffle(before, here, (index_t){1, 2});
                const pair_t right = __builtin_shuffle(here, after, (index_t){1, 2});
                const pair_t around =
                    (left + right) + (north[i] + south[i]) + (below[i] + above[i]);
                out[i] = keep * here + strength * around;
                before = here;
                here = after;
            }
        }
}

/* Largest difference to the shrunk eigenvector, over a quarter of the points and all ends. */
static double largest_error(struct cube c, const pair_t* field, double scale) {
    double worst = 0.0;
#pragma omp parallel for schedule(static) reduction(max : worst)
    for (long k = 1; k <= c.edge; ++k)
        for (long j = 1; j <= c.edge; ++j) {
            const double* row = (const double*)(field + k * c.plane + j * c.row);
            const double height = scale * wave(k, c.edge) * wave(j, c.edge);
            /* Every fourth row in full, of the others the ends. */
            const long stride = (k + j) % 4 == 0 ? 1 : c.edge - 1;
            for (long i = 1; i <= c.edge; i += stride) {
                const double off = fabs(row[i + 1] - height * wave(i, c.edge));
                if (!(off <= worst)) worst = isnan(off) ? INFINITY : off;
            }
        }
    return worst;
}

int main(int argc, char** argv) {
    const long edge = arg_long(argc, argv, 1, "EDGE", 2, 2000) & ~1L;
    const long sweeps = arg_long(argc, argv, 2, "SWEEPS", 1, 1000000);
    const struct cube c = cube_of(edge);
    const size_t bytes = (size_t)(c.plane * (edge + 2)) * sizeof(pair_t);
    pair_t *field = pages_for(bytes), *next = pages_for(bytes);
    fill(c, field, next);

    roi_begin();
    for (long sweep = 0; sweep < sweeps; ++sweep) {
        diffuse(c, field, next);
        pair_t* const done = next;
        next = field;
        field = done;
        heartbeat();
    }
    roi_end();

    /* Eigenvalue of the stencil for the product of three half sine waves. */
    const double half = wave(1, 2 * edge + 1);
    const double factor = 1.0 - 12.0 * kStrength * half * half;
    const double worst = largest_error(c, field, pow(factor, (double)sweeps));
    if (!(worst < 1e-10)) {
        printf("wrong: a point is off by %.3g\n", worst);
        return 1;
    }
    printf("ok points %ld shrunk_to %.7g\n", edge * edge * edge, pow(factor, (double)sweeps));
    return 0;
}
