// kmedian: clusters a stream of points into medians by local search, block by block.
//
// usage: kmedian THREADS BLOCKS POINTS CANDIDATES
//
// A block of POINTS points in 32 dimensions is read; every thread unpacks its own share of it. Then
// CANDIDATES points in turn offer themselves as a new centre: all threads weigh what would be saved
// if their points moved there and what it would cost to close each centre; after a barrier thread 0
// decides, and after another the points move. (Facility location by local search after Charikar and
// Guha, 1999, as in streaming k-median.) The centres of each block, weighted by their points, are
// kept. All sums are of integers, so decisions do not depend on the number of threads.
// Check: the opening costs and distances of the last block, summed anew, equal the cost kept by
// the incremental search; every point sits at the distance recorded; the cost never rose.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"
#include "training_threads.h"

namespace {

typedef float Vec4 __attribute__((vector_size(16)));

constexpr int kQuads = 8;  // 8 vectors of 4 floats: 32 dimensions
constexpr int kMaxCentres = 64;
constexpr int kClusters = 24;  // hidden clusters in the data

struct alignas(64) Point {
    Vec4 quad[kQuads];
};

// Squared distance in units of 1/256, so that sums are exact.
int64_t distance(const Point& a, const Point& b) {
    Vec4 sum = {0, 0, 0, 0};
    for (int q = 0; q < kQuads; ++q) {
        const Vec4 d = a.quad[q] - b.quad[q];
        sum += d * d;
    }
    return static_cast<int64_t>((sum[0] + sum[1] + sum[2] + sum[3]) * 256.0f);
}

Point make_point(uint64_t index) {
    const uint64_t cluster = rng_below(1, index, kClusters);
    Point p;
    for (int q = 0; q < kQuads; ++q) {
        const uint64_t centre = rng_at(2, cluster * kQuads + q);
        const uint64_t noise = rng_at(3, index * kQuads + q);
        for (int lane = 0; lane < 4; ++lane) {
            p.quad[q][lane] = static_cast<float>((centre >> (16 * lane)) & 0xff) / 16.0f +
                              static_cast<float>((noise >> (16 * lane)) & 0xff) / 128.0f;
        }
    }
    return p;
}

// What one thread found out about the current candidate; a line of its own per thread.
struct alignas(64) Tally {
    int64_t saved;
    int64_t closing_cost[kMaxCentres];
};

struct Centre {
    long point;
    bool open;
};

struct Search {
    int threads;
    long blocks, points, candidates;
    pthread_barrier_t barrier;
    Point* point;       // the current block
    int64_t* cost;      // distance of a point to its centre
    int64_t* offer;     // distance of a point to the candidate
    int32_t* assigned;  // slot of a point's centre
    Centre centre[kMaxCentres];
    Tally tally[MAX_THREADS];
    bool closes[kMaxCentres];
    bool accepted;
    int slot;
    long candidate;
    int64_t opening_cost, total, first_total;
    long opened, closed;
    bool rose;
    std::vector<Point> medians;
};

void read_share(Search& s, long block, long begin, long end) {
    for (long i = begin; i < end; ++i) {
        s.point[i] = make_point(static_cast<uint64_t>(block * s.points + i));
    }
}

void start_block(Search& s) {
    for (Centre& c : s.centre) c.open = false;
    s.centre[0] = {0, true};
    s.total = 0;
}

void join_first_centre(Search& s, int thread, long begin, long end) {
    int64_t sum = 0;
    for (long i = begin; i < end; ++i) {
        s.cost[i] = distance(s.point[i], s.point[0]);
        s.assigned[i] = 0;
        sum += s.cost[i];
    }
    s.tally[thread].saved = sum;
}

void weigh_candidate(Search& s, int thread, long begin, long end) {
    Tally& mine = s.tally[thread];
    const Point& target = s.point[s.candidate];
    int64_t saved = 0;
    for (int64_t& c : mine.closing_cost) c = 0;
    for (long i = begin; i < end; ++i) {
        const int64_t there = distance(s.point[i], target);
        s.offer[i] = there;
        const int64_t extra = there - s.cost[i];
        if (extra < 0) {
            saved -= extra;
        } else {
            mine.closing_cost[s.assigned[i]] += extra;
        }
    }
    mine.saved = saved;
}

// Thread 0: is opening the candidate, and closing what then no longer pays, an improvement?
void decide(Search& s) {
    int64_t gain = -s.opening_cost;
    for (int t = 0; t < s.threads; ++t) gain += s.tally[t].saved;
    s.slot = -1;
    for (int c = 0; c < kMaxCentres; ++c) {
        s.closes[c] = false;
        if (!s.centre[c].open) {
            if (s.slot < 0) s.slot = c;
            continue;
        }
        int64_t moving = 0;
        for (int t = 0; t < s.threads; ++t) moving += s.tally[t].closing_cost[c];
        if (moving < s.opening_cost) {
            s.closes[c] = true;
            gain += s.opening_cost - moving;
        }
    }
    s.accepted = gain > 0 && s.slot >= 0;
    if (!s.accepted) return;
    for (int c = 0; c < kMaxCentres; ++c) {
        if (!s.closes[c]) continue;
        s.centre[c].open = false;
        ++s.closed;
    }
    s.centre[s.slot] = {s.candidate, true};
    ++s.opened;
    s.total -= gain;
    s.rose |= gain < 0;
}

void move_points(Search& s, long begin, long end) {
    for (long i = begin; i < end; ++i) {
        if (s.offer[i] < s.cost[i] || s.closes[s.assigned[i]]) {
            s.cost[i] = s.offer[i];
            s.assigned[i] = s.slot;
        }
    }
}

void search_blocks(int thread, void* shared) {
    Search& s = *static_cast<Search*>(shared);
    const long begin = share_begin(s.points, thread, s.threads);
    const long end = share_begin(s.points, thread + 1, s.threads);
    const auto barrier = [&s] { pthread_barrier_wait(&s.barrier); };
    for (long block = 0; block < s.blocks; ++block) {
        if (thread == 0) start_block(s);
        read_share(s, block, begin, end);
        barrier();
        join_first_centre(s, thread, begin, end);
        barrier();
        if (thread == 0) {
            for (int t = 0; t < s.threads; ++t) s.total += s.tally[t].saved;
            s.opening_cost = s.total / 50;
            s.total += s.opening_cost;
            s.first_total = s.total;
        }
        for (long round = 0; round < s.candidates; ++round) {
            if (thread == 0) {
                const uint64_t draw = static_cast<uint64_t>(block * s.candidates + round);
                s.candidate = rng_below(4, draw, static_cast<uint32_t>(s.points));
            }
            barrier();
            weigh_candidate(s, thread, begin, end);
            barrier();
            if (thread == 0) decide(s);
            barrier();
            if (s.accepted) move_points(s, begin, end);
            if (thread == 0) heartbeat();
        }
        barrier();
        if (thread == 0) {
            for (const Centre& c : s.centre) {
                if (c.open) s.medians.push_back(s.point[c.point]);
            }
        }
        barrier();
    }
}

// Sums the last block's cost from nothing; -1 where a point's record is wrong.
int64_t recount(const Search& s) {
    int64_t total = 0;
    for (const Centre& c : s.centre) total += c.open ? s.opening_cost : 0;
    for (long i = 0; i < s.points; ++i) {
        const Centre& c = s.centre[s.assigned[i]];
        if (!c.open || distance(s.point[i], s.point[c.point]) != s.cost[i]) return -1;
        total += s.cost[i];
    }
    return total;
}

}  // namespace

int main(int argc, char** argv) {
    static Search s = {};
    s.threads = static_cast<int>(arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS));
    s.blocks = arg_long(argc, argv, 2, "BLOCKS", 1, 100000);
    s.points = arg_long(argc, argv, 3, "POINTS", 64, 1L << 28);
    s.candidates = arg_long(argc, argv, 4, "CANDIDATES", 1, 100000);
    const size_t n = static_cast<size_t>(s.points);
    s.point = static_cast<Point*>(pages_for(n * sizeof(Point)));
    s.cost = static_cast<int64_t*>(pages_for(n * sizeof(int64_t)));
    s.offer = static_cast<int64_t*>(pages_for(n * sizeof(int64_t)));
    s.assigned = static_cast<int32_t*>(pages_for(n * sizeof(int32_t)));
    pthread_barrier_init(&s.barrier, nullptr, static_cast<unsigned>(s.threads));

    roi_begin();
    run_threads(s.threads, search_blocks, &s);
    roi_end();

    const int64_t counted = recount(s);
    if (counted != s.total || s.rose || s.total > s.first_total) {
        std::printf("wrong: cost kept %lld, counted %lld, at first %lld\n",
                    static_cast<long long>(s.total), static_cast<long long>(counted),
                    static_cast<long long>(s.first_total));
        return 1;
    }
    std::printf("ok medians %zu opened %ld closed %ld cost %lld of %lld\n", s.medians.size(),
                s.opened, s.closed, static_cast<long long>(s.total),
                static_cast<long long>(s.first_total));
    return 0;
}
