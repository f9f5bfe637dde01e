/* pic: charged particles in a periodic box and the field they make (particle in cell).
 *
 * usage: pic EDGE PARTICLES STEPS          (grid of EDGE^2 nodes; threads: OMP_NUM_THREADS)
 *
 * Each step all threads spread the charge of their particles over the four nodes around, in one
 * shared grid and with atomic additions, since any particle may be anywhere; relax the potential
 * with some sweeps of Jacobi; and push the particles by the slope of it. The grid is written by
 * everybody; a small one is always in somebody else's cache, a large one in memory. (Hockney and Eastwood, Computer Simulation Using Particles, 1988.) Charge
 * is counted in whole numbers, so the course of events is the same for every number of threads.
 * Check: in every step the grid holds the charge of all particles; at the end it is, node by node,
 * what is counted anew, and all particles are in the box.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

static const double COUPLING = 0.005;

enum { UNIT = 1 << 20, SWEEPS = 4 }; /* charge of a particle; relaxations a step */

struct particle {
    double x, y, vx, vy;
};

struct box {
    long edge, particles;
    struct particle* particle;
    int64_t* charge;
    double *potential, *other; /* this sweep's and the last one's */
};

/* Numbers of the four nodes around a point and how a particle's charge divides over them. */
struct corners {
    long node[4];
    int64_t share[4];
};

static inline struct corners corners_of(long edge, double x, double y) {
    const long i = (long)x, j = (long)y;
    const long right = i + 1 == edge ? 0 : i + 1, above = j + 1 == edge ? 0 : j + 1;
    const int64_t fx = (int64_t)((x - (double)i) * 1024), fy = (int64_t)((y - (double)j) * 1024);
    return (struct corners){
        {j * edge + i, j * edge + right, above * edge + i, above * edge + right},
        {(1024 - fx) * (1024 - fy), fx * (1024 - fy), (1024 - fx) * fy, fx * fy}};
}

static void spread_charge(struct box* b) {
    int64_t* charge = b->charge;
    const struct particle* particle = b->particle;
    const long nodes = b->edge * b->edge, edge = b->edge, particles = b->particles;
#pragma omp for schedule(static)
    for (long n = 0; n < nodes; ++n) charge[n] = 0;
#pragma omp for schedule(static)
    for (long p = 0; p < particles; ++p) {
        const struct corners c = corners_of(edge, particle[p].x, particle[p].y);
        for (int k = 0; k < 4; ++k) {
#pragma omp atomic
            charge[c.node[k]] += c.share[k];
        }
    }
}

/* One sweep towards laplacian(potential) = -COUPLING (charge - mean). The coupling is weak, so that
 * the beams keep most of their speed. */
static void relax(const struct box* b, const double* from, double* to) {
    const long e = b->edge;
    const double mean = (double)b->particles / (double)(e * e);
    const int64_t* charge = b->charge;
#pragma omp for schedule(static)
    for (long j = 0; j < e; ++j) {
        const long below = (j == 0 ? e - 1 : j - 1) * e, above = (j + 1 == e ? 0 : j + 1) * e;
        for (long i = 0; i < e; ++i) {
            const long left = i == 0 ? e - 1 : i - 1, right = i + 1 == e ? 0 : i + 1;
            const double source = COUPLING * ((double)charge[j * e + i] / UNIT - mean);
            to[j * e + i] = 0.25 * (from[j * e + left] + from[j * e + right] + from[below + i] +
                                    from[above + i] + source);
        }
    }
}

static inline double wrap(double x, double period) {
    x -= period * floor(x / period);
    return x < period ? x : 0.0; /* a tiny negative number rounds up to the period */
}

static void push(struct box* b) {
    struct particle* particle = b->particle;
    const double* potential = b->potential;
    const long e = b->edge, particles = b->particles;
    const double step = 0.05;
#pragma omp for schedule(static)
    for (long p = 0; p < particles; ++p) {
        struct particle q = particle[p];
        const struct corners c = corners_of(e, q.x, q.y);
        const double a = potential[c.node[0]], right = potential[c.node[1]];
        const double above = potential[c.node[2]], across = potential[c.node[3]];
        q.vx -= step * 0.5 * (right - a + across - above);
        q.vy -= step * 0.5 * (above - a + across - right);
        q.x = wrap(q.x + step * q.vx, (double)e);
        q.y = wrap(q.y + step * q.vy, (double)e);
        particle[p] = q;
    }
}

static int64_t total_charge(const struct box* b) {
    int64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long n = 0; n < b->edge * b->edge; ++n) sum += b->charge[n];
    return sum;
}

static struct box make_box(long edge, long particles) {
    const size_t nodes = (size_t)(edge * edge);
    struct box b = {edge,
                    particles,
                    pages_for((size_t)particles * sizeof(struct particle)),
                    pages_for(nodes * sizeof(int64_t)),
                    pages_for(nodes * sizeof(double)),
                    pages_for(nodes * sizeof(double))};
    /* Shared out as the steps share them out. */
#pragma omp parallel for schedule(static)
    for (long j = 0; j < edge; ++j) {
        const long first = j * edge;
        memset(b.potential + first, 0, (size_t)edge * sizeof(double));
        memset(b.other + first, 0, (size_t)edge * sizeof(double));
        memset(b.charge + first, 0, (size_t)edge * sizeof(int64_t));
    }
#pragma omp parallel for schedule(static)
    for (long p = 0; p < particles; ++p) {
        const uint64_t i = (uint64_t)p;
        /* Two beams through each other, one of them denser in the middle. */
        const double beam = p % 2 ? 1.0 : -1.0;
        const double y = beam > 0 ? 0.5 * (rng_unit(1, i) + rng_unit(2, i)) : rng_unit(1, i);
        b.particle[p] = (struct particle){rng_unit(3, i) * (double)edge, y * (double)edge, beam,
                                          0.1 * (rng_unit(4, i) - 0.5)};
    }
    return b;
}

int main(int argc, char** argv) {
    const long edge = arg_long(argc, argv, 1, "EDGE", 2, 32768);
    const long particles = arg_long(argc, argv, 2, "PARTICLES", 1, 1L << 32);
    const long steps = arg_long(argc, argv, 3, "STEPS", 1, 10000000);
    struct box b = make_box(edge, particles);
    int complete = 1;

    roi_begin();
    for (long s = 0; s < steps; ++s) {
#pragma omp parallel
        {
            spread_charge(&b);
            for (int sweep = 0; sweep < SWEEPS; sweep += 2) {
                relax(&b, b.potential, b.other);
                relax(&b, b.other, b.potential);
            }
            if (s + 1 < steps) push(&b);
        }
        complete &= total_charge(&b) == particles * (int64_t)UNIT;
        heartbeat();
    }
    roi_end();

    const long nodes = edge * edge;
    double energy = 0.0;
    int inside = 1;
#pragma omp parallel for schedule(static) reduction(& : inside) reduction(+ : energy)
    for (long p = 0; p < particles; ++p) {
        const struct particle* q = &b.particle[p];
        inside &= q->x >= 0.0 && q->x < (double)edge && q->y >= 0.0 && q->y < (double)edge;
        if (!inside) continue;
        const struct corners c = corners_of(edge, q->x, q->y);
        for (int k = 0; k < 4; ++k) {
#pragma omp atomic
            b.charge[c.node[k]] -= c.share[k];
        }
        energy += 0.5 * (q->vx * q->vx + q->vy * q->vy);
    }
    long unequal = 0;
#pragma omp parallel for schedule(static) reduction(+ : unequal)
    for (long n = 0; n < nodes; ++n) unequal += b.charge[n] != 0;
    if (!complete || !inside || unequal != 0) {
        printf("wrong: charge complete %d, %ld nodes off, all inside %d\n", complete, unequal,
               inside);
        return 1;
    }
    printf("ok particles %ld kinetic_energy %.9g\n", particles, energy);
    return 0;
}
