/* sor: Poisson's equation on a square by red-black over-relaxation.
 *
 * usage: sor EDGE SWEEPS          (threads: OMP_NUM_THREADS)
 *
 * Two barriers a sweep. On a small square there is little between them: the grid fits the caches,
 * threads exchange the rows at their borders after every half sweep, and synchronisation and short
 * distances decide. A large one is streamed from memory twice a sweep. Sweeps too few to solve the
 * equation, fewer than a quarter of the edge, smooth the error, as in a multigrid method, with
 * little over-relaxation: with much of it the residual grows at first.
 * Check: all points of a colour are independent, so one thread repeating the sweeps after the
 * region of interest gets the same numbers to the last bit; of a large square it repeats some rows,
 * with as many on either side as the sweeps reach. And the residual shrank.
 */
#include <math.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

enum { REPEATED_IN_FULL = 1024, WINDOW = 32 };

/* Rows 0 and edge + 1 of `field`, and the ends of each row, are the border. */
static long edge, sweeps;
static double relaxation;
static double *field, *source;

/* The points of row `j` whose i + j has the parity of `colour`; `here` is the row, the rows below
 * and above lie beside it. */
static void relax_row(double* here, long j, long colour) {
    const double *below = here - (edge + 2), *above = here + (edge + 2);
    const double* from = source + (j - 1) * edge;
    for (long i = 1 + (j + 1 + colour) % 2; i <= edge; i += 2)
        here[i] +=
            relaxation *
            (0.25 * (here[i - 1] + here[i + 1] + below[i] + above[i] - from[i - 1]) - here[i]);
}

static void fill(void) {
    const size_t points = (size_t)edge * (size_t)edge;
    const size_t with_border = (size_t)(edge + 2) * (size_t)(edge + 2);
    field = pages_for(with_border * sizeof *field);
    source = pages_for(points * sizeof *source);
    for (long i = 0; i < edge + 2; ++i) field[i] = field[(edge + 1) * (edge + 2) + i] = 0.0;
    /* Shared out as the sweeps share them out. */
#pragma omp parallel for schedule(static)
    for (long j = 1; j <= edge; ++j) {
        for (long i = 0; i < edge + 2; ++i) field[j * (edge + 2) + i] = 0.0;
        for (long i = 0; i < edge; ++i)
            source[(j - 1) * edge + i] = rng_unit((uint64_t)j, (uint64_t)i) - 0.5;
    }
}

static void sweep_all(void) {
#pragma omp parallel
    for (long sweep = 0; sweep < sweeps; ++sweep) {
        for (long colour = 0; colour < 2; ++colour) {
#pragma omp for schedule(static)
            for (long j = 1; j <= edge; ++j) relax_row(field + j * (edge + 2), j, colour);
        }
#pragma omp master
        heartbeat();
    }
}

/* Largest difference in rows `first` to `last` to what one thread gets. A sweep changes a row by
 * what is up to two rows away. */
static double difference(long first, long last) {
    const long low = first - 2 * sweeps > 1 ? first - 2 * sweeps : 1;
    const long high = last + 2 * sweeps < edge ? last + 2 * sweeps : edge;
    const size_t row = (size_t)(edge + 2), points = (size_t)(high - low + 3) * row;
    double* again = pages_for(points * sizeof *again);
    for (size_t i = 0; i < points; ++i) again[i] = 0.0;
    for (long sweep = 0; sweep < sweeps; ++sweep)
        for (long colour = 0; colour < 2; ++colour)
            for (long j = low; j <= high; ++j)
                relax_row(again + (size_t)(j - low + 1) * row, j, colour);
    double worst = 0.0;
    for (long j = first; j <= last; ++j)
        for (size_t i = 0; i < row; ++i) {
            const double off =
                fabs(field[(size_t)j * row + i] - again[(size_t)(j - low + 1) * row + i]);
            if (!(off <= worst)) worst = isnan(off) ? INFINITY : off;
        }
    free(again);
    return worst;
}

/* Root mean square of the equation's error. */
static double residual(void) {
    double error = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : error)
    for (long j = 1; j <= edge; ++j)
        for (long i = 1; i <= edge; ++i) {
            const double* u = field + j * (edge + 2) + i;
            const double off = u[-1] + u[1] + u[-(edge + 2)] + u[edge + 2] - 4.0 * u[0] -
                               source[(j - 1) * edge + i - 1];
            error += off * off;
        }
    return sqrt(error / ((double)edge * (double)edge));
}

int main(int argc, char** argv) {
    edge = arg_long(argc, argv, 1, "EDGE", 2, 30000);
    sweeps = arg_long(argc, argv, 2, "SWEEPS", 1, 10000000);
    relaxation = 2.0 / (1.0 + sin(3.14159265358979323846 / (double)(edge + 1)));
    if (4 * sweeps < edge) relaxation = 1.15;
    fill();
    const double before = residual();

    roi_begin();
    sweep_all();
    roi_end();

    const double after = residual();
    double apart;
    if (edge <= REPEATED_IN_FULL)
        apart = difference(1, edge);
    else
        apart = fmax(difference(1, WINDOW), fmax(difference(edge / 2, edge / 2 + WINDOW - 1),
                                                 difference(edge - WINDOW + 1, edge)));
    if (apart > 0.0 || !(after < before)) {
        printf("wrong: a point is %.3e from one thread's; residual before and after %.4e %.4e\n",
               apart, before, after);
        return 1;
    }
    printf("ok points %ld residual %.7e\n", edge * edge, after / before);
    return 0;
}
