// bfs: breadth-first search over a large graph with uneven degrees.
//
// usage: bfs VERTICES DEGREE SEARCHES          (threads: OMP_NUM_THREADS)
//
// Level by level, the frontier is handed out in small dynamic chunks; a vertex is claimed by a
// compare-and-swap on its record, and what a thread claims goes in batches to the next frontier.
// Records are 64 bytes apart, as in a property graph, and edges lead anywhere, so nearly every edge
// misses the caches. Every thread makes a part of the graph.
// Check: the root has level 0, every other vertex reached has a parent one level up with an edge to
// it, and no edge of a sample of the vertices skips a level (all edges if the graph is small).
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

namespace {

constexpr uint32_t kBatch = 64;

struct alignas(64) Vertex {
    std::atomic<uint32_t> visit;  // search * kLevels + level, larger than in all searches before
    uint32_t parent;
    uint64_t first_edge, end_edge;
};

constexpr uint32_t kLevels = 4096;
constexpr uint32_t kParts = 1024;  // of a graph that is being made

struct Graph {
    uint32_t vertices;
    uint64_t edges;
    Vertex* vertex;
    uint32_t* target;
    uint32_t* frontier;
    uint32_t* next;

    uint64_t end_of(uint32_t v) const { return vertex[v].end_edge; }
    uint32_t visit_of(uint32_t v) const { return vertex[v].visit.load(std::memory_order_relaxed); }
};

// One vertex in eight has four times the degree of the others; low numbers are linked to most.
Graph make_graph(uint32_t vertices, uint32_t degree) {
    Graph g = {};
    g.vertices = vertices;
    g.vertex = static_cast<Vertex*>(pages_for(sizeof(Vertex) * vertices));
    const auto degree_of = [degree](uint32_t v) {
        const uint32_t hub = rng_below(1, v, 8) == 0 ? 4 : 1;
        return (hub * degree * 8 + 10) / 11;
    };
    // A part's edges follow those of the parts before it: counted first, then given out.
    const uint32_t per_part = vertices / kParts + 1;
    std::array<uint64_t, kParts + 1> first_edge = {};
#pragma omp parallel for schedule(static)
    for (uint32_t part = 0; part < kParts; ++part) {
        const uint64_t end = std::min<uint64_t>(uint64_t{part + 1} * per_part, vertices);
        for (uint64_t v = uint64_t{part} * per_part; v < end; ++v)
            first_edge[part + 1] += degree_of(static_cast<uint32_t>(v));
    }
    for (uint32_t part = 0; part < kParts; ++part) first_edge[part + 1] += first_edge[part];
    g.edges = first_edge[kParts];
#pragma omp parallel for schedule(static)
    for (uint32_t part = 0; part < kParts; ++part) {
        const uint64_t end = std::min<uint64_t>(uint64_t{part + 1} * per_part, vertices);
        uint64_t edge = first_edge[part];
        for (uint64_t v = uint64_t{part} * per_part; v < end; ++v) {
            new (&g.vertex[v].visit) std::atomic<uint32_t>(0);
            g.vertex[v].first_edge = edge;
            edge += degree_of(static_cast<uint32_t>(v));
            g.vertex[v].end_edge = edge;
        }
    }
    g.target = static_cast<uint32_t*>(pages_for(sizeof(uint32_t) * g.edges));
#pragma omp parallel for schedule(static)
    for (uint64_t e = 0; e < g.edges; ++e) {
        const double u = rng_unit(2, e);
        g.target[e] = static_cast<uint32_t>(0.5 * (u + u * u) * vertices);
    }
    g.frontier = static_cast<uint32_t*>(pages_for(sizeof(uint32_t) * vertices));
    g.next = static_cast<uint32_t*>(pages_for(sizeof(uint32_t) * vertices));
    return g;
}

// A thread's claimed vertices on their way to the next frontier.
class Outbox {
  public:
    Outbox(uint32_t* next, std::atomic<uint32_t>& count) : next_(next), count_(count) {}
    ~Outbox() { flush(); }
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    void add(uint32_t v) {
        held_[used_++] = v;
        if (used_ == kBatch) flush();
    }

  private:
    void flush() {
        const uint32_t at = count_.fetch_add(used_, std::memory_order_relaxed);
        for (uint32_t i = 0; i < used_; ++i) next_[at + i] = held_[i];
        used_ = 0;
    }

    uint32_t* next_;
    std::atomic<uint32_t>& count_;
    uint32_t held_[kBatch];
    uint32_t used_ = 0;
};

// Marks a vertex not seen since `unseen_below`; false if it was, or if another thread was faster.
bool claim(Vertex& v, uint32_t unseen_below, uint32_t mark, uint32_t parent) {
    uint32_t seen = v.visit.load(std::memory_order_relaxed);
    if (seen >= unseen_below) return false;
    if (!v.visit.compare_exchange_strong(seen, mark, std::memory_order_relaxed)) return false;
    v.parent = parent;
    return true;
}

// Returns how many vertices were reached.
uint64_t search(Graph& g, uint32_t root, uint32_t number) {
    const uint32_t base = number * kLevels;
    uint32_t frontier_count = 1;
    uint64_t reached = 1;
    g.frontier[0] = root;
    g.vertex[root].visit.store(base, std::memory_order_relaxed);
    g.vertex[root].parent = root;
    for (uint32_t level = 1; frontier_count > 0 && level < kLevels; ++level) {
        std::atomic<uint32_t> next_count{0};
#pragma omp parallel
        {
            Outbox outbox(g.next, next_count);
            Vertex* const vertex = g.vertex;
            const uint32_t* const target = g.target;
            const uint32_t* const frontier = g.frontier;
#pragma omp for schedule(dynamic, 64)
            for (uint32_t i = 0; i < frontier_count; ++i) {
                const uint32_t u = frontier[i];
                const uint64_t end = g.end_of(u);
                for (uint64_t e = vertex[u].first_edge; e < end; ++e) {
                    const uint32_t v = target[e];
                    if (claim(vertex[v], base, base + level, u)) outbox.add(v);
                }
            }
        }
        frontier_count = next_count.load();
        reached += frontier_count;
        uint32_t* const done = g.frontier;
        g.frontier = g.next;
        g.next = done;
        heartbeat();
    }
    return reached;
}

bool has_edge(const Graph& g, uint32_t from, uint32_t to) {
    for (uint64_t e = g.vertex[from].first_edge; e < g.end_of(from); ++e) {
        if (g.target[e] == to) return true;
    }
    return false;
}

// First vertex at fault in the last search, or the number of vertices.
uint32_t first_fault(const Graph& g, uint32_t root, uint32_t base) {
    const uint32_t stride = g.vertices > 10000000 ? 256 : g.vertices > 100000 ? 16 : 1;
    if (g.visit_of(root) != base) return root;
    for (uint32_t v = 0; v < g.vertices; v += stride) {
        const uint32_t visit = g.visit_of(v);
        if (visit < base) continue;
        const uint32_t parent = g.vertex[v].parent;
        if (v != root && (g.visit_of(parent) + 1 != visit || !has_edge(g, parent, v))) return v;
        for (uint64_t e = g.vertex[v].first_edge; e < g.end_of(v); ++e) {
            const uint32_t there = g.visit_of(g.target[e]);
            if (there < base || there > visit + 1) return v;
        }
    }
    return g.vertices;
}

}  // namespace

int main(int argc, char** argv) {
    const auto vertices = static_cast<uint32_t>(arg_long(argc, argv, 1, "VERTICES", 16, 1L << 30));
    const auto degree = static_cast<uint32_t>(arg_long(argc, argv, 2, "DEGREE", 2, 1000));
    const auto searches = static_cast<uint32_t>(arg_long(argc, argv, 3, "SEARCHES", 1, 100000));
    Graph g = make_graph(vertices, degree);
    uint64_t reached = 0;
    uint32_t root = 0;

    roi_begin();
    for (uint32_t s = 1; s <= searches; ++s) {
        root = rng_below(3, s, vertices);
        reached = search(g, root, s);
    }
    roi_end();

    const uint32_t fault = first_fault(g, root, searches * kLevels);
    if (fault != vertices || reached < vertices / 2) {
        std::printf("wrong: vertex %u of %u is at fault, %llu reached\n", fault, vertices,
                    static_cast<unsigned long long>(reached));
        return 1;
    }
    std::printf("ok reached %llu of %u\n", static_cast<unsigned long long>(reached), vertices);
    return 0;
}
