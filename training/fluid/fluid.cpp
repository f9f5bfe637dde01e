// fluid: smoothed-particle hydrodynamics on a grid of cells with a lock each.
//
// usage: fluid THREADS EDGE DEPTH STEPS
//
// Threads own runs of consecutive cells. Per step: densities, forces, then motion into a new grid,
// with barriers between. A pair of particles is computed once and added to both, so cells at the
// border of two threads are written by both, under the cell's lock. (Pressure in the symmetric form
// of Monaghan, 1992, and viscosity; all masses are 1; periodic box.) Check: no particle is lost,
// momentum is conserved, and the densities of the last step agree with a sum over all particles for
// a sample of them.
#include <pthread.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "autofinity_roi.h"
#include "grid.h"
#include "training_rng.h"
#include "training_threads.h"

namespace {

using fluid::Cell;
using fluid::Grid;
using fluid::kCellRoom;
using fluid::kHalf;
using fluid::Particle;
using fluid::Vec;

constexpr int kPerCell = 2;
constexpr float kRest = 3.0f;       // density at rest
constexpr float kStiffness = 2.0f;  // pressure per excess density
constexpr float kViscosity = 0.3f;
constexpr float kStep = 0.01f;
constexpr float kMaxMove = 0.5f;  // of a cell per step

struct Fluid {
    Fluid(int threads_, int edge, int depth, long steps_)
        : threads(threads_),
          steps(steps_),
          grids{Grid(edge, depth), Grid(edge, depth)},
          locks(static_cast<size_t>(grids[0].cells())),
          shared(static_cast<size_t>(grids[0].cells())) {}

    int threads;
    long steps;
    Grid grids[2];
    std::vector<pthread_mutex_t> locks;
    std::vector<char> shared;  // cells that more than one thread writes
    pthread_barrier_t barrier;
    bool overflow[MAX_THREADS] = {};
    bool too_fast[MAX_THREADS] = {};
};

class CellGuard {
  public:
    CellGuard(Fluid& f, int cell)
        : mutex_(f.shared[static_cast<size_t>(cell)] ? &f.locks[static_cast<size_t>(cell)]
                                                     : nullptr) {
        if (mutex_) pthread_mutex_lock(mutex_);
    }
    ~CellGuard() {
        if (mutex_) pthread_mutex_unlock(mutex_);
    }
    CellGuard(const CellGuard&) = delete;
    CellGuard& operator=(const CellGuard&) = delete;

  private:
    pthread_mutex_t* mutex_;
};

// Kernel weight by squared distance; zero from distance 1 (the edge of a cell) on.
float weight(float squared) {
    const float rest = 1.0f - squared;
    return rest > 0.0f ? rest * rest * rest : 0.0f;
}

Vec offset_between(const Particle& from, const Particle& to, float dx, float dy, float dz) {
    return {to.position.x + dx - from.position.x, to.position.y + dy - from.position.y,
            to.position.z + dz - from.position.z};
}

float squared(const Vec& v) { return v.x * v.x + v.y * v.y + v.z * v.z; }

// Pressure over squared density.
float pressure(const Particle& p) {
    return kStiffness * (p.density - kRest) / (p.density * p.density);
}

// What a pair adds to the force on the first; the second gets the opposite.
Vec pair_force(const Particle& p, const Particle& q, const Vec& d, float distance_squared) {
    const float distance = std::sqrt(distance_squared) + 1e-6f;
    const float rest = 1.0f - distance;
    const float push = -(pressure(p) + pressure(q)) * rest * rest / distance;
    const float drag = kViscosity * rest;
    return {push * d.x + drag * (q.velocity.x - p.velocity.x),
            push * d.y + drag * (q.velocity.y - p.velocity.y),
            push * d.z + drag * (q.velocity.z - p.velocity.z)};
}

// Sums what pairs add, for one cell, before it goes to the cell in one go under its lock.
struct Sums {
    float density[kCellRoom] = {};
    Vec force[kCellRoom] = {};
};

void add(Vec& to, const Vec& v, float sign) {
    to.x += sign * v.x;
    to.y += sign * v.y;
    to.z += sign * v.z;
}

template <bool kForces>
void visit_pair(const Particle& p, const Particle& q, const Vec& d, Sums& sp, int i, Sums& sq,
                int j) {
    const float r2 = squared(d);
    if (r2 >= 1.0f) return;
    if constexpr (kForces) {
        const Vec force = pair_force(p, q, d, r2);
        add(sp.force[i], force, 1.0f);
        add(sq.force[j], force, -1.0f);
    } else {
        const float w = weight(r2);
        sp.density[i] += w;
        sq.density[j] += w;
    }
}

template <bool kForces>
void hand_in(Fluid& f, Grid& grid, int cell, const Sums& sums) {
    const CellGuard guard(f, cell);
    Cell& c = grid[cell];
    for (int i = 0; i < c.count; ++i) {
        if constexpr (kForces) {
            add(c.particle[i].force, sums.force[i], 1.0f);
        } else {
            c.particle[i].density += sums.density[i];
        }
    }
}

template <bool kForces>
void visit_cells(Fluid& f, Grid& grid, int begin, int end) {
    for (int cell = begin; cell < end; ++cell) {
        const Cell& here = grid[cell];
        Sums mine;
        for (int i = 0; i < here.count; ++i) {
            for (int j = i + 1; j < here.count; ++j) {
                const Particle &p = here.particle[i], &q = here.particle[j];
                visit_pair<kForces>(p, q, offset_between(p, q, 0, 0, 0), mine, i, mine, j);
            }
        }
        for (const auto& n : kHalf) {
            const int other = grid.at_offset(cell, n.x, n.y, n.z);
            const Cell& there = grid[other];
            Sums theirs;
            for (int i = 0; i < here.count; ++i) {
                for (int j = 0; j < there.count; ++j) {
                    const Particle &p = here.particle[i], &q = there.particle[j];
                    const Vec d = offset_between(p, q, static_cast<float>(n.x),
                                                 static_cast<float>(n.y), static_cast<float>(n.z));
                    visit_pair<kForces>(p, q, d, mine, i, theirs, j);
                }
            }
            hand_in<kForces>(f, grid, other, theirs);
        }
        hand_in<kForces>(f, grid, cell, mine);
    }
}

// Steps one coordinate; gives the cell it leads to: -1, 0 or 1 from here.
int move_coordinate(float& position, float& velocity, float force, bool& too_fast) {
    velocity += kStep * force;
    const float step = kStep * velocity;
    too_fast |= !(std::fabs(step) < kMaxMove);
    position += step;
    const int cells = position < 0.0f ? -1 : position >= 1.0f ? 1 : 0;
    position -= static_cast<float>(cells);
    if (position >= 1.0f) position = 0x1.fffffep-1f;  // a tiny negative one rounds up to 1
    return cells;
}

void move_particles(Fluid& f, Grid& from, Grid& to, int begin, int end, int thread) {
    for (int cell = begin; cell < end; ++cell) {
        for (int i = 0; i < from[cell].count; ++i) {
            Particle p = from[cell].particle[i];
            bool& fast = f.too_fast[thread];
            const int dx = move_coordinate(p.position.x, p.velocity.x, p.force.x, fast);
            const int dy = move_coordinate(p.position.y, p.velocity.y, p.force.y, fast);
            const int dz = move_coordinate(p.position.z, p.velocity.z, p.force.z, fast);
            p.force = {0, 0, 0};
            p.density = 1.0f;  // its own weight
            const int target = to.at_offset(cell, dx, dy, dz);
            const CellGuard guard(f, target);
            Cell& t = to[target];
            if (t.count == kCellRoom) {
                f.overflow[thread] = true;
            } else {
                t.particle[t.count++] = p;
            }
        }
    }
}

void simulate(Fluid& f, int thread) {
    const int cells = f.grids[0].cells();
    const int begin = static_cast<int>(share_begin(cells, thread, f.threads));
    const int end = static_cast<int>(share_begin(cells, thread + 1, f.threads));
    for (long step = 0; step < f.steps; ++step) {
        Grid& from = f.grids[step % 2];
        Grid& to = f.grids[1 - step % 2];
        for (int cell = begin; cell < end; ++cell) to[cell].count = 0;
        visit_cells<false>(f, from, begin, end);
        pthread_barrier_wait(&f.barrier);
        visit_cells<true>(f, from, begin, end);
        pthread_barrier_wait(&f.barrier);
        move_particles(f, from, to, begin, end, thread);
        pthread_barrier_wait(&f.barrier);
        if (thread == 0) heartbeat();
    }
}

// A cell is shared if it or a neighbour belongs to another thread.
void mark_shared_cells(Fluid& f) {
    const Grid& grid = f.grids[0];
    std::vector<int> owner(static_cast<size_t>(grid.cells()));
    for (int t = 0; t < f.threads; ++t) {
        const long end = share_begin(grid.cells(), t + 1, f.threads);
        for (long c = share_begin(grid.cells(), t, f.threads); c < end; ++c) {
            owner[static_cast<size_t>(c)] = t;
        }
    }
    for (int c = 0; c < grid.cells(); ++c) {
        for (int n = 0; n < 27; ++n) {
            const int other = grid.at_offset(c, n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
            if (owner[static_cast<size_t>(other)] != owner[static_cast<size_t>(c)]) {
                f.shared[static_cast<size_t>(c)] = 1;
            }
        }
    }
}

// Every thread fills the cells it owns.
void fill(Fluid& f, int thread) {
    Grid& grid = f.grids[0];
    const int end = static_cast<int>(share_begin(grid.cells(), thread + 1, f.threads));
    int c = static_cast<int>(share_begin(grid.cells(), thread, f.threads));
    for (; c < end; ++c) {
        grid[c].count = kPerCell;
        f.grids[1][c].count = 0;
        for (int i = 0; i < kPerCell; ++i) {
            const auto draw = static_cast<uint64_t>(c) * kPerCell + static_cast<uint64_t>(i);
            const auto unit = [draw](uint64_t s) { return static_cast<float>(rng_unit(s, draw)); };
            Particle& p = grid[c].particle[i];
            p.position = {0.99f * unit(1), 0.99f * unit(2), 0.99f * unit(3)};
            p.velocity = {unit(4) - 0.5f, unit(5) - 0.5f, unit(6) - 0.5f};
            p.force = {0, 0, 0};
            p.density = 1.0f;
        }
    }
}

struct Momentum {
    double x = 0, y = 0, z = 0, absolute = 0;
    long particles = 0;
};

Momentum momentum_of(const Grid& grid) {
    Momentum m;
    for (int c = 0; c < grid.cells(); ++c) {
        for (int i = 0; i < grid[c].count; ++i) {
            const Vec& v = grid[c].particle[i].velocity;
            m.x += v.x;
            m.y += v.y;
            m.z += v.z;
            m.absolute += std::sqrt(squared(v));
            ++m.particles;
        }
    }
    return m;
}

struct Course {
    Fluid& fluid;
    Momentum before;
};

void work(int thread, void* shared) {
    Course& course = *static_cast<Course*>(shared);
    Fluid& f = course.fluid;
    fill(f, thread);
    pthread_barrier_wait(&f.barrier);
    if (thread == 0) course.before = momentum_of(f.grids[0]);
    begin_roi_together(thread, &f.barrier);
    simulate(f, thread);
}

double drift(const Momentum& a, const Momentum& b) {
    const double change = std::fabs(a.x - b.x) + std::fabs(a.y - b.y) + std::fabs(a.z - b.z);
    return change / (a.absolute + b.absolute);
}

// What the definition says of a particle: sums over all particles in the box, in double precision.
struct Expected {
    double density = 0.0, force[3] = {0.0, 0.0, 0.0};
};

void place(const Grid& grid, int cell, const Particle& p, double* at) {
    at[0] = cell % grid.edge() + double{p.position.x};
    at[1] = cell / grid.edge() % grid.edge() + double{p.position.y};
    at[2] = cell / (grid.edge() * grid.edge()) + double{p.position.z};
}

Expected by_definition(const Grid& grid, int cell, const Particle& p) {
    const int period[3] = {grid.edge(), grid.edge(), grid.depth()};
    Expected expected;
    double here[3], there[3], d[3] = {0.0, 0.0, 0.0};
    place(grid, cell, p, here);
    for (int c = 0; c < grid.cells(); ++c) {
        for (int i = 0; i < grid[c].count; ++i) {
            const Particle& q = grid[c].particle[i];
            place(grid, c, q, there);
            double r2 = 0.0;
            for (int axis = 0; axis < 3 && r2 < 1.0; ++axis) {
                d[axis] = there[axis] - here[axis];
                if (2 * std::fabs(d[axis]) > period[axis])  // nearer around the box
                    d[axis] -= std::copysign(double(period[axis]), d[axis]);
                r2 += d[axis] * d[axis];
            }
            if (r2 >= 1.0) continue;
            expected.density += std::pow(1.0 - r2, 3.0);
            if (&q == &p) continue;
            const double r = std::sqrt(r2), rest = 1.0 - r;
            const double push =
                -(double{pressure(p)} + double{pressure(q)}) * rest * rest / (r + 1e-6);
            const double drag = double{kViscosity} * rest;
            expected.force[0] += push * d[0] + drag * (q.velocity.x - p.velocity.x);
            expected.force[1] += push * d[1] + drag * (q.velocity.y - p.velocity.y);
            expected.force[2] += push * d[2] + drag * (q.velocity.z - p.velocity.z);
        }
    }
    return expected;
}

// Largest difference to the definition in a sample of cells spread over the box, which with several
// threads has shared cells in it.
double worst_error(const Grid& grid) {
    constexpr int kSamples = 24;
    double worst = 0.0;
    for (int s = 0; s < kSamples; ++s) {
        const int cell = static_cast<int>(share_begin(grid.cells() - 1, s, kSamples - 1));
        for (int i = 0; i < grid[cell].count; ++i) {
            const Particle& p = grid[cell].particle[i];
            const Expected e = by_definition(grid, cell, p);
            const double off[4] = {(e.density - double{p.density}) / e.density,
                                   e.force[0] - double{p.force.x}, e.force[1] - double{p.force.y},
                                   e.force[2] - double{p.force.z}};
            for (const double o : off) worst = std::fmax(worst, std::fabs(o));
        }
    }
    return worst;
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = static_cast<int>(arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS));
    const int edge = static_cast<int>(arg_long(argc, argv, 2, "EDGE", 3, 512));
    const int depth = static_cast<int>(arg_long(argc, argv, 3, "DEPTH", 3, 4096));
    const long steps = arg_long(argc, argv, 4, "STEPS", 1, 1000000);
    Fluid f(threads, edge, depth, steps);
    for (pthread_mutex_t& lock : f.locks) pthread_mutex_init(&lock, nullptr);
    pthread_barrier_init(&f.barrier, nullptr, static_cast<unsigned>(threads));
    mark_shared_cells(f);
    Course course = {f, {}};
    run_threads(threads, work, &course);
    roi_end();
    const Momentum& before = course.before;

    bool lost = false, fast = false;
    for (int t = 0; t < threads; ++t) {
        lost |= f.overflow[t];
        fast |= f.too_fast[t];
    }
    const Momentum after = momentum_of(f.grids[steps % 2]);
    const double error = worst_error(f.grids[(steps - 1) % 2]);
    const double change = drift(before, after);
    if (lost || fast || after.particles != before.particles || !(change < 1e-6) ||
        !(error < 5e-5)) {
        std::printf("wrong: %ld of %ld particles, momentum off by %.3g, sums by %.3g, fast %d\n",
                    after.particles, before.particles, change, error, fast);
        return 1;
    }
    std::printf("ok particles %ld speed %.5g\n", after.particles,
                after.absolute / static_cast<double>(after.particles));
    return 0;
}
