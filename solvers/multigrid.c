/* multigrid: Poisson's equation in a cube by V-cycles over grids of half the points across, and
 * half again.
 *
 * usage: multigrid CELLS SOLVES          (even CELLS; threads: OMP_NUM_THREADS)
 *
 * Operators of 27 points: the Laplacian and the smoother of NASA's benchmark MG as its definition
 * (report RNR-91-002) has them, residuals gathered by weights that halve with each step away, and
 * corrections spread linearly. Few point charges in a cube whose walls are at zero; with each solve
 * they move, and four V-cycles follow. The finest grids are streamed; coarse ones have fewer planes
 * than there are threads, and a barrier after little work. Planes are shared out statically, on
 * every level, and every thread fills those it works on.
 *
 * Check: the residual, point by point from the definition, shrank as much as four such V-cycles
 * shrink it, on a cube of any size.
 */
#include <math.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

enum { MOST_LEVELS = 12, MOST_CELLS = 1024, COARSEST = 4, CHARGES = 20, CYCLES = 4 };

/* Weights of a point, its 6 neighbours at faces, 12 at edges, and 8 at corners. */
struct weights {
    double here, face, edge, corner;
};

static const struct weights kLaplace = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
static const struct weights kMinusLaplace = {8.0 / 3, 0, -1.0 / 6, -1.0 / 12};
static const struct weights kSmoother = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};

/* The most that the V-cycles of a solve leave of the residual: 0.222 each, whatever the edge. */
static const double kMostLeft = 2.45e-3;

/* Points 0 to cells in each direction, those at the walls are zero. */
struct grid {
    long cells, row, plane; /* a row's and a plane's points */
    double *given, *field, *residual;
};

static double* row_at(const struct grid* g, double* of, long k, long j) {
    return of + k * g->plane + j * g->row;
}

/* Pages are given to the thread that works on the plane. */
static double* zeros(const struct grid* g) {
    double* made = pages_for((size_t)(g->plane * g->row) * sizeof *made);
#pragma omp parallel for schedule(static)
    for (long k = 1; k < g->cells; ++k) {
        memset(row_at(g, made, k, 0), 0, (size_t)g->plane * sizeof *made);
        if (k == 1) memset(made, 0, (size_t)g->plane * sizeof *made);
        if (k == g->cells - 1)
            memset(row_at(g, made, g->cells, 0), 0, (size_t)g->plane * sizeof *made);
    }
    return made;
}

static void clear(const struct grid* g, double* values) {
#pragma omp parallel for schedule(static)
    for (long k = 1; k < g->cells; ++k)
        memset(row_at(g, values, k, 0), 0, (size_t)g->plane * sizeof *values);
}

/* out = base + weights applied to `to`. `out` may be `base`. */
static void add_applied(const struct grid* g, double* out, double* base, struct weights w,
                        double* to) {
#pragma omp parallel for schedule(static)
    for (long k = 1; k < g->cells; ++k)
        for (long j = 1; j < g->cells; ++j) {
            /* Sums over the neighbours in this plane across i, which three points share. */
            double beside[MOST_CELLS + 1], oblique[MOST_CELLS + 1];
            const double* u = row_at(g, to, k, j);
            const double *below = u - g->plane, *above = u + g->plane;
            for (long i = 0; i <= g->cells; ++i) {
                beside[i] = u[i - g->row] + u[i + g->row] + below[i] + above[i];
                oblique[i] =
                    below[i - g->row] + below[i + g->row] + above[i - g->row] + above[i + g->row];
            }
            const double* from = row_at(g, base, k, j);
            double* row = row_at(g, out, k, j);
#pragma omp simd
            for (long i = 1; i < g->cells; ++i)
                row[i] = from[i] + w.here * u[i] + w.face * (u[i - 1] + u[i + 1] + beside[i]) +
                         w.edge * (beside[i - 1] + beside[i + 1] + oblique[i]) +
                         w.corner * (oblique[i - 1] + oblique[i + 1]);
        }
}

/* What a grid has left, given to the next coarser one. Differences there are over twice the
 * distance, so the weights sum to four. */
static void gather(const struct grid* fine, double* left, const struct grid* coarse) {
#pragma omp parallel for schedule(static)
    for (long k = 1; k < coarse->cells; ++k)
        for (long j = 1; j < coarse->cells; ++j) {
            double line[MOST_CELLS + 1];
            const double* r = row_at(fine, left, 2 * k, 2 * j);
            const double *below = r - fine->plane, *above = r + fine->plane;
            const long row = fine->row;
            for (long i = 0; i <= fine->cells; ++i)
                line[i] = r[i] / 4 + (r[i - row] + r[i + row] + below[i] + above[i]) / 8 +
                          (below[i - row] + below[i + row] + above[i - row] + above[i + row]) / 16;
            double* out = row_at(coarse, coarse->given, k, j);
            for (long i = 1; i < coarse->cells; ++i)
                out[i] = line[2 * i - 1] + 2 * line[2 * i] + line[2 * i + 1];
        }
}

/* Adds a coarse grid's field to the next finer one, linearly between its points. */
static void spread(const struct grid* coarse, const struct grid* fine) {
#pragma omp parallel for schedule(static)
    for (long k = 1; k < fine->cells; ++k)
        for (long j = 1; j < fine->cells; ++j) {
            double line[MOST_CELLS / 2 + 1];
            const double* near = row_at(coarse, coarse->field, k / 2, j / 2);
            const long up = k % 2 * coarse->plane, on = j % 2 * coarse->row;
            for (long i = 0; i <= coarse->cells; ++i)
                line[i] = (near[i] + near[i + on] + near[i + up] + near[i + up + on]) / 4;
            double* out = row_at(fine, fine->field, k, j);
            for (long i = 0; i < coarse->cells; ++i) {
                out[2 * i] += line[i];
                out[2 * i + 1] += (line[i] + line[i + 1]) / 2;
            }
        }
}

static void find_residual(const struct grid* g) {
    add_applied(g, g->residual, g->given, kMinusLaplace, g->field);
}

static void improve(const struct grid* g) {
    find_residual(g);
    add_applied(g, g->field, g->field, kSmoother, g->residual);
}

static void cycle(const struct grid* grid, int levels) {
    const struct grid* last = &grid[levels - 1];
    find_residual(&grid[0]);
    for (int l = 1; l < levels; ++l) {
        gather(&grid[l - 1], l == 1 ? grid[0].residual : grid[l - 1].given, &grid[l]);
        clear(&grid[l], grid[l].field);
    }
    for (long sweep = 0; sweep < last->cells * last->cells / 2; ++sweep) improve(last);
    for (int l = levels - 2; l >= 0; --l) {
        spread(&grid[l + 1], &grid[l]);
        improve(&grid[l]);
    }
}

/* As many positive charges as negative ones, elsewhere in each solve. */
static void move_charges(const struct grid* g, long solve) {
    const uint32_t inner = (uint32_t)(g->cells - 1);
    for (long moved = 0; moved < 2; ++moved) {
        if (solve + moved == 0) continue;
        for (uint64_t c = 0; c < CHARGES; ++c) {
            const uint64_t place = (uint64_t)(solve + moved - 1) * CHARGES + c;
            double* row = row_at(g, g->given, 1 + (long)rng_below(1, place, inner),
                                 1 + (long)rng_below(2, place, inner));
            row[1 + rng_below(3, place, inner)] = moved ? c % 2 ? 1.0 : -1.0 : 0.0;
        }
    }
}

/* Sum of squares of what the equation misses, with the weights of every neighbour. */
static double squared_residual(const struct grid* g) {
    const double weight[4] = {kLaplace.here, kLaplace.face, kLaplace.edge, kLaplace.corner};
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long k = 1; k < g->cells; ++k)
        for (long j = 1; j < g->cells; ++j)
            for (long i = 1; i < g->cells; ++i) {
                double missed = row_at(g, g->given, k, j)[i];
                for (int n = 0; n < 27; ++n) {
                    const int z = n / 9 - 1, y = n / 3 % 3 - 1, x = n % 3 - 1;
                    missed -=
                        weight[abs(z) + abs(y) + abs(x)] * row_at(g, g->field, k + z, j + y)[i + x];
                }
                sum += missed * missed;
            }
    return sum;
}

int main(int argc, char** argv) {
    const long cells = arg_long(argc, argv, 1, "CELLS", 4, MOST_CELLS) & ~1L;
    const long solves = arg_long(argc, argv, 2, "SOLVES", 1, 1000000);
    struct grid grid[MOST_LEVELS];
    int levels = 0;
    for (long across = cells;; across /= 2) {
        struct grid* g = &grid[levels++];
        *g = (struct grid){.cells = across, .row = across + 1};
        g->plane = g->row * g->row;
        g->given = zeros(g);
        g->field = zeros(g);
        g->residual = zeros(g);
        if (across <= COARSEST || across % 2 != 0) break;
    }

    roi_begin();
    for (long solve = 0; solve < solves; ++solve) {
        move_charges(&grid[0], solve);
        if (solve > 0) clear(&grid[0], grid[0].field);
        for (int c = 0; c < CYCLES; ++c) cycle(grid, levels);
        heartbeat();
    }
    roi_end();

    const double left = sqrt(squared_residual(&grid[0]) / CHARGES);
    if (!(left <= kMostLeft)) {
        printf("wrong: %.3g of the residual is left, expected %.3g at most\n", left, kMostLeft);
        return 1;
    }
    printf("ok points %ld levels %d left %.3g\n", (cells - 1) * (cells - 1) * (cells - 1), levels,
           left);
    return 0;
}
