// percolation: how likely a random lattice conducts from one side to the other.
//
// usage: percolation THREADS EDGE TRIALS
//
// Every bond between neighbours on a square lattice of EDGE^2 sites is open with a probability that
// grows from trial to trial around the critical one half. All threads join the sites of open bonds
// in one shared forest by compare-and-swap, without locks, after Anderson and Woll (1991): the
// roots are few and everybody's, so their lines travel all the time. Bonds are drawn, not stored.
// Check: the number of clusters in the first and last trial is what one thread finds; the lattice
// conducts in the last trial and not in the first.
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"
#include "training_threads.h"

namespace {

// From 0.40 in the first trial to 0.60 in the last.
double open_probability(long trial, long trials) {
    return 0.40 + 0.20 * static_cast<double>(trial) / static_cast<double>(trials - 1);
}

// Bond 2 s leads from site s to the right, bond 2 s + 1 downwards.
bool is_open(long trial, uint64_t bond, double probability) {
    return rng_unit(static_cast<uint64_t>(trial), bond) < probability;
}

// Disjoint sets that many threads may join at once. A root is its own parent; parents have smaller
// numbers than their children, so that no cycle can form.
class Forest {
  public:
    explicit Forest(uint32_t sites) : parent_(new std::atomic<uint32_t>[sites]) {}

    void reset(uint32_t site) { parent_[site].store(site, std::memory_order_relaxed); }

    bool is_root(uint32_t site) const { return parent(site) == site; }

    uint32_t root_of(uint32_t site) {
        for (;;) {
            uint32_t up = parent(site);
            if (up == site) return site;
            const uint32_t above = parent(up);
            // Halve the path; if another thread was faster, its link is as good.
            if (above != up) {
                parent_[site].compare_exchange_weak(up, above, std::memory_order_relaxed);
            }
            site = above;
        }
    }

    void join(uint32_t a, uint32_t b) {
        for (;;) {
            a = root_of(a);
            b = root_of(b);
            if (a == b) return;
            if (a < b) std::swap(a, b);
            uint32_t expected = a;
            if (parent_[a].compare_exchange_strong(expected, b, std::memory_order_relaxed)) return;
        }
    }

  private:
    uint32_t parent(uint32_t site) const { return parent_[site].load(std::memory_order_relaxed); }

    std::unique_ptr<std::atomic<uint32_t>[]> parent_;
};

struct Result {
    long clusters;
    bool conducts;
};

struct Experiment {
    Experiment(int threads_, uint32_t edge_, long trials_)
        : threads(threads_), edge(edge_), trials(trials_), forest(edge_ * edge_) {}

    int threads;
    uint32_t edge;
    long trials;
    Forest forest;
    pthread_barrier_t barrier;
    long roots[MAX_THREADS] = {};
    std::vector<Result> result;
};

void join_row(Forest& forest, uint32_t edge, uint32_t row, long trial, double probability) {
    for (uint32_t x = 0; x < edge; ++x) {
        const uint32_t site = row * edge + x;
        if (x + 1 < edge && is_open(trial, 2 * uint64_t{site}, probability)) {
            forest.join(site, site + 1);
        }
        if (row + 1 < edge && is_open(trial, 2 * uint64_t{site} + 1, probability)) {
            forest.join(site, site + edge);
        }
    }
}

bool conducts(Forest& forest, uint32_t edge) {
    std::vector<char> at_top(size_t{edge} * edge);
    for (uint32_t x = 0; x < edge; ++x) at_top[forest.root_of(x)] = 1;
    for (uint32_t x = 0; x < edge; ++x) {
        if (at_top[forest.root_of((edge - 1) * edge + x)]) return true;
    }
    return false;
}

void run_trials(int thread, void* shared) {
    Experiment& e = *static_cast<Experiment*>(shared);
    const auto share = [&e](long count, int t) {
        return static_cast<uint32_t>(share_begin(count, t, e.threads));
    };
    const long sites = static_cast<long>(e.edge) * e.edge;
    for (long trial = 0; trial < e.trials; ++trial) {
        for (uint32_t s = share(sites, thread); s < share(sites, thread + 1); ++s) {
            e.forest.reset(s);
        }
        pthread_barrier_wait(&e.barrier);
        // Rows are dealt out in turn, so that clusters soon span threads.
        const double probability = open_probability(trial, e.trials);
        for (uint32_t row = static_cast<uint32_t>(thread); row < e.edge;
             row += static_cast<uint32_t>(e.threads)) {
            join_row(e.forest, e.edge, row, trial, probability);
        }
        pthread_barrier_wait(&e.barrier);
        long roots = 0;
        for (uint32_t s = share(sites, thread); s < share(sites, thread + 1); ++s) {
            roots += e.forest.is_root(s);
        }
        e.roots[thread] = roots;
        pthread_barrier_wait(&e.barrier);
        if (thread == 0) {
            Result r = {0, conducts(e.forest, e.edge)};
            for (int t = 0; t < e.threads; ++t) r.clusters += e.roots[t];
            e.result.push_back(r);
            heartbeat();
        }
        pthread_barrier_wait(&e.barrier);
    }
}

// Clusters counted by flooding, without the forest.
long clusters_by_flooding(const Experiment& e, long trial) {
    const uint32_t edge = e.edge;
    const double probability = open_probability(trial, e.trials);
    std::vector<char> seen(size_t{edge} * edge);
    std::vector<uint32_t> todo;
    long clusters = 0;
    const auto visit = [&](uint32_t site, uint64_t bond) {
        if (seen[site] || !is_open(trial, bond, probability)) return;
        seen[site] = 1;
        todo.push_back(site);
    };
    for (uint32_t start = 0; start < edge * edge; ++start) {
        if (seen[start]) continue;
        ++clusters;
        seen[start] = 1;
        todo.push_back(start);
        while (!todo.empty()) {
            const uint32_t s = todo.back();
            todo.pop_back();
            if (s % edge + 1 < edge) visit(s + 1, 2 * uint64_t{s});
            if (s % edge > 0) visit(s - 1, 2 * uint64_t{s - 1});
            if (s / edge + 1 < edge) visit(s + edge, 2 * uint64_t{s} + 1);
            if (s / edge > 0) visit(s - edge, 2 * uint64_t{s - edge} + 1);
        }
    }
    return clusters;
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = static_cast<int>(arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS));
    const auto edge = static_cast<uint32_t>(arg_long(argc, argv, 2, "EDGE", 32, 32768));
    const long trials = arg_long(argc, argv, 3, "TRIALS", 2, 1000000);
    Experiment e(threads, edge, trials);
    e.result.reserve(static_cast<size_t>(trials));
    pthread_barrier_init(&e.barrier, nullptr, static_cast<unsigned>(threads));

    roi_begin();
    run_threads(threads, run_trials, &e);
    roi_end();

    const long first = clusters_by_flooding(e, 0), last = clusters_by_flooding(e, trials - 1);
    long conducting = 0;
    for (const Result& r : e.result) conducting += r.conducts;
    if (e.result.front().clusters != first || e.result.back().clusters != last ||
        e.result.front().conducts || !e.result.back().conducts) {
        std::printf("wrong: clusters %ld and %ld, by flooding %ld and %ld, %ld of %ld conduct\n",
                    e.result.front().clusters, e.result.back().clusters, first, last, conducting,
                    trials);
        return 1;
    }
    std::printf("ok conducting %ld of %ld clusters_at_last %ld\n", conducting, trials, last);
    return 0;
}
