// amr: heat from a moving source, on a mesh of cubes that is fine around it and changes with it.
//
// usage: amr THREADS BLOCKS STEPS          (BLOCKS across the domain)
//
// Each block is an octree whose leaves, cubes of edge 1 to 8, lie in Morton's order. A cube is
// split where the source is near for its size, so neighbours differ by one level at most. Heat
// flows through the faces that cubes share, in explicit steps, along lists of neighbours: a coarse
// cube has four at a face with finer ones. Every ten steps the mesh is made anew: cubes are
// counted, placed, given the heat of the old ones, and linked. They are shared out evenly each
// time, so a thread's cubes and the threads it has as neighbours change while the source moves on.
// Check: the cubes fill the domain, their heat is what the source gave, and for a sample of them
// the last step is repeated from the definition, by patches of faces.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_threads.h"

namespace {

constexpr long kBlock = 16, kCoarsest = 8;  // edges of a block and of the largest leaf
constexpr long kStepsOfMesh = 10;
constexpr double kStep = 0.125;  // of time; conductivity and the finest edge are 1
constexpr long kRadius = 3;      // of the source, which heats by 1 in a step
constexpr double kSpeed = 0.4;   // of the source, in finest edges a step

using Place = std::array<long, 3>;  // in finest edges

struct Cube {
    uint32_t first_link;  // among those of the thread that has the cube
    uint16_t x, y, z;
    uint16_t order;  // Morton's, in its block
    uint8_t edge, links;

    Place corner() const { return {x, y, z}; }
    long volume() const { return long{edge} * edge * edge; }
};

// What a link's last two bits say of the neighbour; its number is in the others.
enum Kind : uint32_t { kAlike, kCoarser, kFiner };

// Area of the common face over the distance of the centres, for a cube of edge 1.
constexpr std::array<double, 3> kConductance = {1.0, 2.0 / 3.0, 1.0 / 3.0};

struct alignas(64) Links {
    std::vector<uint32_t> link;
};

struct Mesh {
    std::vector<uint32_t> first;  // cube of each block, and the end
    Cube* cube;
    std::array<double*, 2> heat;  // before and after a step, by turns
    std::array<Links, MAX_THREADS> of_thread;

    long cubes() const { return first.back(); }
};

struct Domain {
    int threads;
    long blocks, edge, steps, reach, most_cubes;
    pthread_barrier_t barrier;
    std::array<Mesh, 2> mesh;  // a new one and the old one, by turns
};

// In a circle.
Place source_at(const Domain& d, long step) {
    const double radius = static_cast<double>(d.edge) / 4;
    const double angle = kSpeed * static_cast<double>(step) / radius;
    return {d.edge / 2 + std::lround(radius * std::cos(angle)),
            d.edge / 2 + std::lround(radius * std::sin(angle)), d.edge / 2};
}

bool is_split(const Domain& d, const Place& source, const Place& corner, long edge) {
    if (edge > kCoarsest || edge == 1) return edge > 1;
    long squared = 0;
    for (size_t a = 0; a < 3; ++a) {
        const long off = source[a] - std::clamp(source[a], corner[a], corner[a] + edge);
        squared += off * off;
    }
    return squared <= d.reach * d.reach * edge * edge;
}

// Calls `use` with corner and edge of each leaf, in Morton's order.
template <typename Use>
void visit(const Domain& d, const Place& source, const Place& corner, long edge, const Use& use) {
    if (!is_split(d, source, corner, edge)) {
        use(corner, edge);
        return;
    }
    const long half = edge / 2;
    for (long child = 0; child < 8; ++child)
        visit(d, source,
              {corner[0] + half * (child & 1), corner[1] + half * (child >> 1 & 1),
               corner[2] + half * (child >> 2)},
              half, use);
}

Place corner_of_block(const Domain& d, long block) {
    return {block % d.blocks * kBlock, block / d.blocks % d.blocks * kBlock,
            block / d.blocks / d.blocks * kBlock};
}

uint16_t order_in_block(const Place& p) {
    uint32_t order = 0;
    for (uint32_t bit = 0; bit < 4; ++bit)
        for (uint32_t a = 0; a < 3; ++a)
            order |= (static_cast<uint32_t>(p[a]) >> bit & 1) << (3 * bit + a);
    return static_cast<uint16_t>(order);
}

// Number of the cube in which a place is.
long find(const Domain& d, const Mesh& m, const Place& p) {
    const auto block =
        static_cast<size_t>((p[2] / kBlock * d.blocks + p[1] / kBlock) * d.blocks + p[0] / kBlock);
    const Cube* after =
        std::upper_bound(m.cube + m.first[block], m.cube + m.first[block + 1], order_in_block(p),
                         [](uint16_t order, const Cube& cube) { return order < cube.order; });
    return after - m.cube - 1;
}

// The temperature that a cube has from the cubes of the old mesh in its place.
double inherited(const Domain& d, const Mesh& old, const double* heat, const Place& corner,
                 long edge) {
    long n = find(d, old, corner);
    if (old.cube[n].edge >= edge) return heat[n];
    double sum = 0;
    for (long volume = 0; volume < edge * edge * edge; ++n) {
        sum += static_cast<double>(old.cube[n].volume()) * heat[n];
        volume += old.cube[n].volume();
    }
    return sum / static_cast<double>(edge * edge * edge);
}

template <typename Temperature>
void place_cubes(const Domain& d, Mesh& m, const Place& source, long begin, long end,
                 const Temperature& temperature) {
    long block = std::upper_bound(m.first.begin(), m.first.end(), begin) - m.first.begin() - 1;
    for (; begin < end && m.first[static_cast<size_t>(block)] < end; ++block) {
        long n = m.first[static_cast<size_t>(block)];
        visit(d, source, corner_of_block(d, block), kBlock, [&](const Place& at, long edge) {
            if (n >= begin && n < end) {
                m.cube[n] = {0,
                             static_cast<uint16_t>(at[0]),
                             static_cast<uint16_t>(at[1]),
                             static_cast<uint16_t>(at[2]),
                             order_in_block(at),
                             static_cast<uint8_t>(edge),
                             0};
                m.heat[0][n] = temperature(at, edge);
            }
            ++n;
        });
    }
}

// The neighbours of a cube at one of its faces, `beyond` being a place behind it.
void link_face(const Domain& d, const Mesh& m, const Cube& cube, const Place& beyond, size_t axis,
               std::vector<uint32_t>& link) {
    const long there = find(d, m, beyond);
    const auto word = [](long n, Kind kind) { return static_cast<uint32_t>(n) << 2 | kind; };
    if (m.cube[there].edge >= cube.edge) {
        link.push_back(word(there, m.cube[there].edge == cube.edge ? kAlike : kCoarser));
        return;
    }
    for (long quarter = 0; quarter < 4; ++quarter) {
        Place at = beyond;
        at[(axis + 1) % 3] += quarter % 2 * (cube.edge / 2);
        at[(axis + 2) % 3] += quarter / 2 * (cube.edge / 2);
        link.push_back(word(find(d, m, at), kFiner));
    }
}

void link_cubes(const Domain& d, const Mesh& m, long begin, long end, std::vector<uint32_t>& link) {
    link.clear();
    for (long n = begin; n < end; ++n) {
        Cube& cube = m.cube[n];
        cube.first_link = static_cast<uint32_t>(link.size());
        for (size_t axis = 0; axis < 3; ++axis)
            for (const long beyond : {-1L, long{cube.edge}}) {
                Place at = cube.corner();
                at[axis] += beyond;
                if (at[axis] >= 0 && at[axis] < d.edge) link_face(d, m, cube, at, axis, link);
            }
        cube.links = static_cast<uint8_t>(link.size() - cube.first_link);
    }
}

// Made by all threads together, for the place of the source in a step.
template <typename Temperature>
void make_mesh(Domain& d, int thread, Mesh& m, long step, const Temperature& temperature) {
    const Place source = source_at(d, step);
    const long blocks = d.blocks * d.blocks * d.blocks;
    for (long block = thread; block < blocks; block += d.threads) {
        uint32_t leaves = 0;
        visit(d, source, corner_of_block(d, block), kBlock, [&](const Place&, long) { ++leaves; });
        m.first[static_cast<size_t>(block) + 1] = leaves;
    }
    pthread_barrier_wait(&d.barrier);
    if (thread == 0) {
        for (size_t block = 1; block < m.first.size(); ++block)
            m.first[block] += m.first[block - 1];
        if (m.cubes() > d.most_cubes) {
            std::fprintf(stderr, "no room for %ld cubes, expected %ld at most\n", m.cubes(),
                         d.most_cubes);
            std::exit(2);
        }
    }
    pthread_barrier_wait(&d.barrier);
    const long begin = share_begin(m.cubes(), thread, d.threads);
    const long end = share_begin(m.cubes(), thread + 1, d.threads);
    place_cubes(d, m, source, begin, end, temperature);
    pthread_barrier_wait(&d.barrier);
    link_cubes(d, m, begin, end, m.of_thread[static_cast<size_t>(thread)].link);
}

// Whether the centre of a finest cube lies in the source.
bool is_heated(const Place& corner, const Place& source) {
    long squared = 0;
    for (size_t a = 0; a < 3; ++a) {
        const long twice = 2 * (corner[a] - source[a]) + 1;
        squared += twice * twice;
    }
    return squared <= 4 * kRadius * kRadius;
}

// One step for a thread's cubes.
void diffuse(const Domain& d, int thread, const Mesh& m, const double* heat, double* after,
             const Place& source) {
    const uint32_t* links = m.of_thread[static_cast<size_t>(thread)].link.data();
    const long end = share_begin(m.cubes(), thread + 1, d.threads);
    for (long n = share_begin(m.cubes(), thread, d.threads); n < end; ++n) {
        const Cube& cube = m.cube[n];
        const uint32_t* link = links + cube.first_link;
        double flow = 0;
        for (int l = 0; l < cube.links; ++l)
            flow += kConductance[link[l] & 3] * (heat[link[l] >> 2] - heat[n]);
        after[n] = heat[n] + kStep * flow / (cube.edge * cube.edge);
        if (cube.edge == 1 && is_heated(cube.corner(), source)) after[n] += 1;
    }
}

void work(int thread, void* shared) {
    Domain& d = *static_cast<Domain*>(shared);
    make_mesh(d, thread, d.mesh[0], 0, [](const Place&, long) { return 1.0; });
    begin_roi_together(thread, &d.barrier);
    size_t now = 0, turn = 0;
    for (long step = 0; step < d.steps; ++step) {
        if (step > 0 && step % kStepsOfMesh == 0) {
            const Mesh& old = d.mesh[now];
            const double* heat = old.heat[turn];
            make_mesh(d, thread, d.mesh[1 - now], step, [&](const Place& corner, long edge) {
                return inherited(d, old, heat, corner, edge);
            });
            now = 1 - now;
            turn = 0;
        }
        const Mesh& m = d.mesh[now];
        diffuse(d, thread, m, m.heat[turn], m.heat[1 - turn], source_at(d, step));
        turn = 1 - turn;
        pthread_barrier_wait(&d.barrier);
        if (thread == 0) heartbeat();
    }
}

// What the threads left: the last mesh, and temperatures before and after the last step.
struct Result {
    const Mesh& mesh;
    const double *before, *after;
    Place source;
};

Result result_of(const Domain& d) {
    const Mesh& m = d.mesh[static_cast<size_t>((d.steps - 1) / kStepsOfMesh % 2)];
    const auto turn = static_cast<size_t>((d.steps - 1) % kStepsOfMesh % 2);
    return {m, m.heat[turn], m.heat[1 - turn], source_at(d, d.steps - 1)};
}

long volume_of(const Mesh& m) {
    long sum = 0;
    for (long n = 0; n < m.cubes(); ++n) sum += m.cube[n].volume();
    return sum;
}

// Heat over that of temperature 1, which was everywhere at the start.
double heat_of(const Result& r) {
    double sum = 0;
    for (long n = 0; n < r.mesh.cubes(); ++n)
        sum += static_cast<double>(r.mesh.cube[n].volume()) * (r.after[n] - 1);
    return sum;
}

// Finest cubes in the source.
long heated_cubes() {
    long sum = 0;
    for (long n = 0; n < 8 * kRadius * kRadius * kRadius; ++n)
        sum += is_heated({n % (2 * kRadius) - kRadius, n / (2 * kRadius) % (2 * kRadius) - kRadius,
                          n / (4 * kRadius * kRadius) - kRadius},
                         {0, 0, 0});
    return sum;
}

// What the last step makes of a cube: flows through all patches of 1 x 1 of its faces, one by one.
double stepped(const Domain& d, const Result& r, long n) {
    const Cube& cube = r.mesh.cube[n];
    const long edge = cube.edge;
    double flow = 0;
    for (long patch = 0; patch < 6 * edge * edge; ++patch) {
        const long face = patch / edge / edge;
        const auto axis = static_cast<size_t>(face / 2);
        Place at = cube.corner();
        at[axis] += face % 2 == 0 ? -1 : edge;
        at[(axis + 1) % 3] += patch % edge;
        at[(axis + 2) % 3] += patch / edge % edge;
        if (at[axis] < 0 || at[axis] >= d.edge) continue;
        const long there = find(d, r.mesh, at);
        flow += 2 * (r.before[there] - r.before[n]) /
                static_cast<double>(edge + r.mesh.cube[there].edge);
    }
    const bool heated = edge == 1 && is_heated(cube.corner(), r.source);
    return r.before[n] + kStep * flow / static_cast<double>(cube.volume()) + heated;
}

}  // namespace

int main(int argc, char** argv) {
    static Domain d = {};
    d.threads = static_cast<int>(arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS));
    d.blocks = arg_long(argc, argv, 2, "BLOCKS", 2, 400);
    d.steps = arg_long(argc, argv, 3, "STEPS", 1, 1000000);
    d.edge = d.blocks * kBlock;
    d.reach = std::max(4L, 2 * d.blocks / 5);
    const long blocks = d.blocks * d.blocks * d.blocks;
    for (long block = 0; block < blocks; ++block)
        visit(d, source_at(d, 0), corner_of_block(d, block), kBlock,
              [&](const Place&, long) { ++d.most_cubes; });
    d.most_cubes += d.most_cubes / 4;
    for (Mesh& m : d.mesh) {
        m.first.resize(static_cast<size_t>(blocks) + 1);
        const auto room = static_cast<size_t>(d.most_cubes);
        m.cube = static_cast<Cube*>(pages_for(room * sizeof(Cube)));
        for (double*& heat : m.heat) heat = static_cast<double*>(pages_for(room * sizeof(double)));
    }
    pthread_barrier_init(&d.barrier, nullptr, static_cast<unsigned>(d.threads));
    run_threads(d.threads, work, &d);
    roi_end();

    const Result r = result_of(d);
    const double given = static_cast<double>(d.steps * heated_cubes()), heat = heat_of(r);
    long wrong = 0;
    for (long n = 0; n < r.mesh.cubes(); n += 1 + r.mesh.cubes() / 5000)
        wrong += !(std::abs(stepped(d, r, n) - r.after[n]) < 1e-12);
    if (volume_of(r.mesh) != d.edge * d.edge * d.edge || !(std::abs(heat / given - 1) < 1e-6) ||
        wrong > 0) {
        std::printf("wrong: volume %ld of %ld, heat %.9g of %.9g, cubes with another step %ld\n",
                    volume_of(r.mesh), d.edge * d.edge * d.edge, heat, given, wrong);
        return 1;
    }
    std::printf("ok cubes %ld heat %.9g\n", r.mesh.cubes(), heat);
    return 0;
}
