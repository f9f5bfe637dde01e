/* mergesort: sorts 64-bit keys with tasks, merges split in parallel as well.
 *
 * usage: mergesort KEYS [SORTS]          (threads: OMP_NUM_THREADS)
 *
 * The array is halved into tasks down to runs of 2,048 keys; merging two runs is split at the
 * middle of the longer one (Cormen et al., Introduction to Algorithms, "multithreaded merge").
 * Which thread runs which task is left to the run-time, so data move between threads from level to
 * level. Several SORTS have keys each, made by all threads in the place of the last ones.
 * Check: the result ascends and has the sum and the mixed sum of the keys made.
 */
#include <stdint.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

enum { RUN = 2048, SHORT = 12, MERGE = 4096 };

static void insertion_sort(uint64_t* keys, long count) {
    for (long i = 1; i < count; ++i) {
        const uint64_t key = keys[i];
        long j = i;
        for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

static void merge(const uint64_t* a, long na, const uint64_t* b, long nb, uint64_t* to) {
    if (na == 0 || nb == 0) {
        memcpy(to, na ? a : b, (size_t)(na + nb) * sizeof *to);
        return;
    }
    uint64_t x = *a, y = *b;
    for (;;) {
        if (x <= y) {
            *to++ = x;
            if (--na == 0) break;
            x = *++a;
        } else {
            *to++ = y;
            if (--nb == 0) break;
            y = *++b;
        }
    }
    memcpy(to, na ? a : b, (size_t)(na + nb) * sizeof *to);
}

/* Number of keys below `key` in an ascending run. */
static long rank_of(uint64_t key, const uint64_t* keys, long count) {
    long low = 0, high = count;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void parallel_merge(const uint64_t* a, long na, const uint64_t* b, long nb, uint64_t* to) {
    if (na + nb <= MERGE) {
        merge(a, na, b, nb, to);
        return;
    }
    if (na < nb) {
        const uint64_t* run = a;
        const long length = na;
        a = b, na = nb;
        b = run, nb = length;
    }
    const long half = na / 2, other = rank_of(a[half], b, nb);
#pragma omp task
    parallel_merge(a, half, b, other, to);
    parallel_merge(a + half, na - half, b + other, nb - other, to + half + other);
#pragma omp taskwait
}

static void serial_sort(uint64_t* keys, uint64_t* scratch, long count, int into_scratch) {
    if (count <= SHORT) {
        insertion_sort(keys, count);
        if (into_scratch) memcpy(scratch, keys, (size_t)count * sizeof *keys);
        return;
    }
    const long half = count / 2;
    serial_sort(keys, scratch, half, !into_scratch);
    serial_sort(keys + half, scratch + half, count - half, !into_scratch);
    const uint64_t* from = into_scratch ? keys : scratch;
    merge(from, half, from + half, count - half, into_scratch ? scratch : keys);
}

/* Sorts `keys`; the result is in `scratch` if into_scratch, else in `keys`. */
static void sort(uint64_t* keys, uint64_t* scratch, long count, int into_scratch) {
    if (count <= RUN) {
        serial_sort(keys, scratch, count, into_scratch);
        heartbeat();
        return;
    }
    const long half = count / 2;
#pragma omp task
    sort(keys, scratch, half, !into_scratch);
    sort(keys + half, scratch + half, count - half, !into_scratch);
#pragma omp taskwait
    const uint64_t* from = into_scratch ? keys : scratch;
    parallel_merge(from, half, from + half, count - half, into_scratch ? scratch : keys);
}

struct sums {
    uint64_t sum, mixed;
};

/* Makes the keys of a sort, each thread some of them. */
static struct sums make_keys(uint64_t* keys, long count, long number) {
    uint64_t sum = 0, mixed = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum, mixed)
    for (long i = 0; i < count; ++i) {
        keys[i] = rng_at(1 + 2 * (uint64_t)number, (uint64_t)i);
        sum += keys[i];
        mixed += rng_at(2, keys[i]);
    }
    return (struct sums){sum, mixed};
}

int main(int argc, char** argv) {
    const long count = arg_long(argc, argv, 1, "KEYS", 1, 1L << 32);
    const long sorts = arg_long_or(argc, argv, 2, "SORTS", 1, 1000000, 1);
    uint64_t* keys = pages_for((size_t)count * sizeof *keys);
    uint64_t* scratch = pages_for((size_t)count * sizeof *scratch);
    struct sums made = make_keys(keys, count, 0);

    roi_begin();
    for (long s = 0; s < sorts; ++s) {
        if (s > 0) made = make_keys(keys, count, s);
#pragma omp parallel
#pragma omp single
        sort(keys, scratch, count, 0);
    }
    roi_end();

    uint64_t sum = made.sum, mixed = made.mixed;
    int ascending = 1;
#pragma omp parallel for schedule(static) reduction(- : sum, mixed) reduction(& : ascending)
    for (long i = 0; i < count; ++i) {
        sum -= keys[i];
        mixed -= rng_at(2, keys[i]);
        ascending &= i == 0 || keys[i - 1] <= keys[i];
    }
    if (!ascending || sum != 0 || mixed != 0) {
        printf("wrong: ascending %d, sums off by %llu and %llu\n", ascending,
               (unsigned long long)sum, (unsigned long long)mixed);
        return 1;
    }
    printf("ok keys %ld median %016llx\n", count, (unsigned long long)keys[count / 2]);
    return 0;
}
