/* chase: every thread follows its own random cycle through memory that no cache can hold.
 *
 * usage: chase LOG2_LINES STEPS            (threads: OMP_NUM_THREADS)
 *
 * Each thread owns 2^LOG2_LINES nodes of one cache line. Node g(i) points to node g(i + 1), where g
 * is a bijection without locality: one cycle, no two steps near each other. Loads depend on each
 * other. Check: after STEPS steps the walk stands at g(STEPS), known without walking.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"

struct node {
    struct node* next;
    char rest[56];
};

/* A bijection of [0, 2^bits): multiplications by odd numbers and xor-shifts are all invertible. */
static uint64_t scatter(uint64_t i, int bits) {
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const int half = bits / 2;
    i = i * UINT64_C(0x9e3779b97f4a7c15) & mask;
    i ^= i >> half;
    i = i * UINT64_C(0xd1342543de82ef95) & mask;
    i ^= i >> half;
    return i * UINT64_C(0x2545f4914f6cdd1d) & mask;
}

int main(int argc, char** argv) {
    const int bits = (int)arg_long(argc, argv, 1, "LOG2_LINES", 4, 26);
    const long steps = arg_long(argc, argv, 2, "STEPS", 1, 1L << 40);
    const uint64_t count = UINT64_C(1) << bits;
    const int threads = omp_get_max_threads();
    struct node* const nodes = pages_for((size_t)threads * count * sizeof(struct node));
    long wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        struct node* const mine = nodes + (uint64_t)omp_get_thread_num() * count;
        for (uint64_t i = 0; i < count; i++)
            mine[scatter(i, bits)].next = &mine[scatter((i + 1) & (count - 1), bits)];
#pragma omp barrier
#pragma omp master
        roi_begin();
#pragma omp barrier
        struct node* at = &mine[scatter(0, bits)];
        for (long step = 0; step < steps; step++) at = at->next;
        wrong += at != &mine[scatter((uint64_t)steps & (count - 1), bits)];
#pragma omp barrier
#pragma omp master
        roi_end();
    }
    printf("%s %ld of %d walks end in the right place\n", wrong == 0 ? "ok" : "wrong",
           threads - wrong, threads);
    return wrong != 0;
}
