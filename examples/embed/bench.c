/* Nanoseconds that one decision of an exported policy takes; scripts/bench/header.py builds it.
 *
 * Samples come from standard input (binary doubles, one row a sample), so that they fall on all
 * sides of the policy's edges. Each round asks about every sample once; the best round counts,
 * since whatever else runs on the machine only ever adds time.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "policy.h"

enum { most_samples = 4096, rounds = 2000 };

static double samples[most_samples][autofinity_counter_count + 1];

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void) {
    size_t count = fread(samples, sizeof samples[0], most_samples, stdin);
    if (count == 0) {
        fprintf(stderr, "no samples on standard input\n");
        return 2;
    }
    double best = 1e300;
    unsigned long sum = 0;
    for (int round = 0; round < rounds; round++) {
        double start = now_ns();
        for (size_t i = 0; i < count; i++) sum += (unsigned long)autofinity_decide(samples[i]);
        double took = (now_ns() - start) / (double)count;
        if (took < best) best = took;
    }
    /* The sum is printed so that no decision can be optimised away. */
    printf("%.2f %lu\n", best, sum);
    return 0;
}
