// Partitioned hash join: both relations are split by key, then partition meets partition.
//
// usage: radixjoin BUILD PROBE LOG2_PARTITIONS SWEEPS
//
// Threads count their tuples by partition, agree on where each writes, and move them there; then
// whoever is free takes a partition: it chains the tuples of the build side in buckets that fit its
// cache, and looks those of the probe side up. Each thread fills the tuples that it splits. Keys of
// the build side are unique, and one key in four of the probe side is not there. Checked: how many
// tuples met, and the sum of their products.
#include <omp.h>

#include "kernel.h"

struct tuple {
    uint32_t key, value;
};

struct relation {
    long count;
    struct tuple *given, *split;
    long* begin;  // of each partition, and the end of the last one
};

static uint32_t key_of(uint64_t number) {
    uint32_t key = (uint32_t)number + 1;  // xorshift: never the same for two numbers
    key ^= key << 13;
    key ^= key >> 17;
    return key ^ key << 5;
}

static uint64_t number_of_probe(long i, long build) {
    return scrambled((uint64_t)i) % ((uint64_t)build + (uint64_t)build / 3);
}

static struct tuple build_of(long i) {
    return (struct tuple){key_of((uint64_t)i), (uint32_t)i % 100};
}

static struct tuple probe_of(long i, long build) {
    return (struct tuple){key_of(number_of_probe(i, build)), (uint32_t)i % 10};
}

// The next three are called by all threads of a team. `cursor` holds a row of partitions a thread.
static void count_tuples(const struct relation* r, long partitions, long* cursor) {
    for (long p = 0; p < partitions; ++p) cursor[p] = 0;
#pragma omp for schedule(static)
    for (long i = 0; i < r->count; ++i) ++cursor[r->given[i].key & (partitions - 1)];
}

static void place_partitions(struct relation* r, long partitions, long* cursors, int threads) {
#pragma omp single
    {
        long at = 0;
        for (long p = 0; p < partitions; ++p) {
            r->begin[p] = at;
            for (int t = 0; t < threads; ++t) {
                const long own = cursors[t * partitions + p];
                cursors[t * partitions + p] = at;
                at += own;
            }
        }
        r->begin[partitions] = at;
    }
}

static void move_tuples(const struct relation* r, long partitions, long* cursor) {
#pragma omp for schedule(static)
    for (long i = 0; i < r->count; ++i)
        r->split[cursor[r->given[i].key & (partitions - 1)]++] = r->given[i];
}

struct buckets {
    uint32_t *head,
        *next;  // of a bucket, of a tuple; 0 is none, else one more than the tuple's number
    uint64_t mask;
    int shift;
};

static uint64_t bucket_of(const struct buckets* b, uint32_t key) {
    return key >> b->shift & b->mask;
}

static void build_buckets(struct buckets* b, const struct tuple* tuple, long count) {
    b->mask = 1;
    while ((long)b->mask < count) b->mask = 2 * b->mask + 1;
    for (uint64_t h = 0; h <= b->mask; ++h) b->head[h] = 0;
    for (long i = 0; i < count; ++i) {
        uint32_t* head = &b->head[bucket_of(b, tuple[i].key)];
        b->next[i] = *head;
        *head = (uint32_t)i + 1;
    }
}

struct result {
    uint64_t met, sum;
};

static struct result probe(const struct buckets* b, const struct tuple* build,
                           const struct tuple* tuple, long count) {
    struct result found = {0, 0};
    for (long i = 0; i < count; ++i)
        for (uint32_t at = b->head[bucket_of(b, tuple[i].key)]; at != 0; at = b->next[at - 1])
            if (build[at - 1].key == tuple[i].key) {
                ++found.met;
                found.sum += (uint64_t)build[at - 1].value * tuple[i].value;
            }
    return found;
}

static struct result join(struct relation* build, struct relation* other, int log2_partitions,
                          long* cursors, struct buckets* buckets) {
    const long partitions = 1L << log2_partitions;
    uint64_t met = 0, sum = 0;
#pragma omp parallel reduction(+ : met, sum)
    {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        long* cursor = cursors + thread * partitions;
        struct relation* sides[] = {build, other};
        for (int s = 0; s < 2; ++s) {
            count_tuples(sides[s], partitions, cursor);
            place_partitions(sides[s], partitions, cursors, threads);
            move_tuples(sides[s], partitions, cursor);
        }
        struct buckets* own = &buckets[thread];
#pragma omp for schedule(dynamic, 1)
        for (long p = 0; p < partitions; ++p) {
            const struct tuple* first = build->split + build->begin[p];
            build_buckets(own, first, build->begin[p + 1] - build->begin[p]);
            const struct result found = probe(own, first, other->split + other->begin[p],
                                              other->begin[p + 1] - other->begin[p]);
            met += found.met;
            sum += found.sum;
        }
    }
    return (struct result){met, sum};
}

static struct relation relation_of(long count, long partitions) {
    return (struct relation){count, untouched((size_t)count * sizeof(struct tuple)),
                             untouched((size_t)count * sizeof(struct tuple)),
                             calloc((size_t)partitions + 1, sizeof(long))};
}

int main(int argc, char** argv) {
    const long builds = whole(argc, argv, 1, "BUILD", 4, 1L << 30);
    const long probes = whole(argc, argv, 2, "PROBE", 1, 1L << 34);
    const int log2_partitions = (int)whole(argc, argv, 3, "LOG2_PARTITIONS", 0, 16);
    const long sweeps = whole(argc, argv, 4, "SWEEPS", 1, 1000000);
    const long partitions = 1L << log2_partitions;
    const int threads = omp_get_max_threads();
    struct relation build = relation_of(builds, partitions),
                    other = relation_of(probes, partitions);
    long* cursors = untouched((size_t)(threads * partitions) * sizeof *cursors);
    struct buckets* buckets = untouched((size_t)threads * sizeof *buckets);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (long i = 0; i < builds; ++i) build.given[i] = build.split[i] = build_of(i);
#pragma omp for schedule(static)
        for (long i = 0; i < probes; ++i) other.given[i] = other.split[i] = probe_of(i, builds);
        // Keys may all fall into one partition; what is not needed is never touched.
        buckets[omp_get_thread_num()] =
            (struct buckets){untouched(4 * (size_t)builds * sizeof(uint32_t)),
                             untouched((size_t)builds * sizeof(uint32_t)), 0, log2_partitions};
    }

    struct result got = {0, 0};
    begin_region();
    for (long s = 0; s < sweeps; ++s) got = join(&build, &other, log2_partitions, cursors, buckets);
    end_region();

    uint64_t met = 0, sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : met, sum)
    for (long i = 0; i < probes; ++i) {
        const uint64_t number = number_of_probe(i, builds);
        if (number >= (uint64_t)builds) continue;
        ++met;
        sum += (uint64_t)build_of((long)number).value * probe_of(i, builds).value;
    }
    return verdict(got.met == met && got.sum == sum, "%lu of %ld tuples met, sum %lu", got.met,
                   probes, got.sum);
}
