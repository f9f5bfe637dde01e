/* md: molecular dynamics of argon-like atoms with cells and neighbour lists.
 *
 * usage: md CELLS STEPS          (4 * CELLS^3 atoms; threads: OMP_NUM_THREADS)
 *
 * Atoms start on a face-centred lattice and move under the Lennard-Jones potential, cut at 2.5 and
 * shifted, in a periodic box (velocity Verlet; reduced units). Neighbour lists are made again every
 * ten steps from a linked list of the atoms in each cell. Each thread sums the forces on its own
 * atoms and reads the positions of others nearby.
 * Check: total energy and momentum are what they were at the start.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

enum { MOST_NEIGHBOURS = 140, REBUILD = 10, NONE = -1 };

static const double kReach2 = 2.9 * 2.9, kReach = 2.9, kDensity = 0.8, kStep = 0.002;
static const double kCut2 = 2.5 * 2.5;

typedef double vector_t[3];

/* The atoms of a box, `cells` cells along each edge. */
static struct {
    long atoms, cells;
    double box;
    vector_t *position, *velocity, *force;
    int (*neighbour)[MOST_NEIGHBOURS];
    int *neighbours, *first, *next; /* first atom of each cell, and the atom after each */
    double potential;
    bool overflow; /* an atom had more than MOST_NEIGHBOURS */
} all;

/* The potential at the cut, taken off everywhere so that energy has no jump there. */
static double shift(void) {
    const double inverse6 = 1.0 / (kCut2 * kCut2 * kCut2);
    return 4.0 * inverse6 * (inverse6 - 1.0);
}

static void mean_velocity(vector_t mean) {
    mean[0] = mean[1] = mean[2] = 0.0;
    for (long a = 0; a < all.atoms; ++a)
        for (int axis = 0; axis < 3; ++axis) mean[axis] += all.velocity[a][axis];
    for (int axis = 0; axis < 3; ++axis) mean[axis] /= (double)all.atoms;
}

static void fill(long edge) {
    static const vector_t corner[4] = {
        {0.0, 0.0, 0.0}, {0.5, 0.5, 0.0}, {0.5, 0.0, 0.5}, {0.0, 0.5, 0.5}};
    const double lattice = cbrt(4.0 / kDensity);
    all.atoms = 4 * edge * edge * edge;
    all.box = lattice * (double)edge;
    all.cells = (long)(all.box / kReach);
    const size_t atoms = (size_t)all.atoms, cells = (size_t)all.cells;
    all.position = pages_for(atoms * sizeof *all.position);
    all.velocity = pages_for(atoms * sizeof *all.velocity);
    all.force = pages_for(atoms * sizeof *all.force);
    all.neighbour = pages_for(atoms * sizeof *all.neighbour);
    all.neighbours = pages_for(atoms * sizeof *all.neighbours);
    all.next = pages_for(atoms * sizeof *all.next);
    all.first = pages_for(cells * cells * cells * sizeof *all.first);
#pragma omp parallel for schedule(static)
    for (long z = 0; z < edge; ++z) {
        long a = 4 * edge * edge * z;
        for (long y = 0; y < edge; ++y)
            for (long x = 0; x < edge; ++x)
                for (int c = 0; c < 4; ++c, ++a) {
                    const vector_t cell = {(double)x, (double)y, (double)z};
                    for (int axis = 0; axis < 3; ++axis) {
                        all.position[a][axis] = lattice * (cell[axis] + corner[c][axis]);
                        all.velocity[a][axis] = 2.0 * rng_unit((uint64_t)axis, (uint64_t)a) - 1.0;
                        all.force[a][axis] = 0.0;
                    }
                }
    }
    vector_t mean;
    mean_velocity(mean);
#pragma omp parallel for schedule(static)
    for (long a = 0; a < all.atoms; ++a)
        for (int axis = 0; axis < 3; ++axis) all.velocity[a][axis] -= mean[axis];
}

static void cell_of(long a, long cell[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        const long at = (long)(all.position[a][axis] / all.box * (double)all.cells);
        cell[axis] = at < all.cells ? at : all.cells - 1;
    }
}

static int* first_of(long x, long y, long z) {
    return &all.first[(z * all.cells + y) * all.cells + x];
}

/* The way `d` between two atoms, to the image that is nearest, and its square. */
static double way(const vector_t from, const vector_t to, vector_t d) {
    for (int axis = 0; axis < 3; ++axis) {
        d[axis] = to[axis] - from[axis];
        d[axis] -= all.box * round(d[axis] / all.box);
    }
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* Adds the atoms near atom `a` in one cell; returns their number with those `found` before. */
static int neighbours_in(long a, int b, int found, bool* overflow) {
    for (; b != NONE; b = all.next[b]) {
        vector_t d;
        if (!(way(all.position[a], all.position[b], d) < kReach2) || b == a) continue;
        if (found == MOST_NEIGHBOURS)
            *overflow = true;
        else
            all.neighbour[a][found++] = b;
    }
    return found;
}

static void find_neighbours(void) {
    const long cells = all.cells;
    for (long i = 0; i < cells * cells * cells; ++i) all.first[i] = NONE;
    for (long a = 0; a < all.atoms; ++a) {
        long cell[3];
        cell_of(a, cell);
        int* const first = first_of(cell[0], cell[1], cell[2]);
        all.next[a] = *first;
        *first = (int)a;
    }
    /* With fewer than three cells a side, a cell and its neighbours coincide: visit each once. */
    const long span = cells >= 3 ? 3 : cells;
    bool overflow = false;
#pragma omp parallel for schedule(static) reduction(|| : overflow)
    for (long a = 0; a < all.atoms; ++a) {
        long cell[3];
        cell_of(a, cell);
        int found = 0;
        for (long z = 0; z < span; ++z)
            for (long y = 0; y < span; ++y)
                for (long x = 0; x < span; ++x) {
                    const int first = *first_of((cell[0] + x + cells - 1) % cells,
                                                (cell[1] + y + cells - 1) % cells,
                                                (cell[2] + z + cells - 1) % cells);
                    found = neighbours_in(a, first, found, &overflow);
                }
        all.neighbours[a] = found;
    }
    all.overflow = all.overflow || overflow;
}

static void sum_forces(void) {
    const double taken_off = shift();
    double potential = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : potential)
    for (long a = 0; a < all.atoms; ++a) {
        const vector_t here = {all.position[a][0], all.position[a][1], all.position[a][2]};
        vector_t total = {0.0, 0.0, 0.0};
        for (int n = 0; n < all.neighbours[a]; ++n) {
            vector_t d;
            const double r2 = way(here, all.position[all.neighbour[a][n]], d);
            if (r2 >= kCut2) continue;
            const double inverse6 = 1.0 / (r2 * r2 * r2);
            const double scale = 48.0 * inverse6 * (inverse6 - 0.5) / r2;
            for (int axis = 0; axis < 3; ++axis) total[axis] -= scale * d[axis];
            /* Each pair is met from both sides: half of its energy each time. */
            potential += 0.5 * (4.0 * inverse6 * (inverse6 - 1.0) - taken_off);
        }
        for (int axis = 0; axis < 3; ++axis) all.force[a][axis] = total[axis];
    }
    all.potential = potential;
}

static void kick(void) {
#pragma omp parallel for schedule(static)
    for (long a = 0; a < all.atoms; ++a)
        for (int axis = 0; axis < 3; ++axis)
            all.velocity[a][axis] += 0.5 * kStep * all.force[a][axis];
}

static void move(void) {
#pragma omp parallel for schedule(static)
    for (long a = 0; a < all.atoms; ++a)
        for (int axis = 0; axis < 3; ++axis) {
            const double at = fmod(all.position[a][axis] + kStep * all.velocity[a][axis], all.box);
            all.position[a][axis] = at < 0.0 ? at + all.box : at;
        }
}

static double kinetic(void) {
    double energy = 0.0;
    for (long a = 0; a < all.atoms; ++a)
        for (int axis = 0; axis < 3; ++axis)
            energy += all.velocity[a][axis] * all.velocity[a][axis];
    return 0.5 * energy;
}

int main(int argc, char** argv) {
    const long edge = arg_long(argc, argv, 1, "CELLS", 4, 200);
    const long steps = arg_long(argc, argv, 2, "STEPS", 1, 1000000);
    fill(edge);
    find_neighbours();
    sum_forces();
    const double before = all.potential + kinetic();

    roi_begin();
    for (long step = 1; step <= steps; ++step) {
        kick();
        move();
        if (step % REBUILD == 0) find_neighbours();
        sum_forces();
        kick();
        heartbeat();
    }
    roi_end();

    const double after = all.potential + kinetic();
    vector_t mean;
    mean_velocity(mean);
    const double drift = fmax(fabs(mean[0]), fmax(fabs(mean[1]), fabs(mean[2])));
    if (all.overflow || !(drift < 1.0e-10) || !(fabs(after - before) < 2.0e-5 * fabs(before))) {
        printf("wrong: energy before and after %.8e %.8e, momentum %.2e, lists overflowed %d\n",
               before, after, drift, all.overflow);
        return 1;
    }
    printf("ok atoms %ld energy_per_atom %.5f\n", all.atoms, after / (double)all.atoms);
    return 0;
}
