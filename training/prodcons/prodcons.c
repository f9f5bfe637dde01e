/* prodcons: pairs of a producer and a consumer whose partners change between two phases.
 *
 * usage: prodcons THREADS BLOCKS PERIODS WORDS [RING_MIB]
 *
 * BLOCKS blocks of WORDS 64-bit words go from producers to consumers through a ring of two blocks
 * per pair, or of as many as RING_MIB for all pairs together holds, guarded by semaphores. In even
 * periods thread 2i talks to its neighbour 2i + 1, in odd ones thread i to thread i + T/2, so the
 * best mapping changes while the program runs (the benchmark of section 2 of Cruz et al. on
 * TLB-based communication detection). A thread left over by an odd count takes both roles.
 * Check: the checksum of all blocks equals that of a serial run; it is a sum over blocks, so it
 * does not depend on who handled which.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"
#include "training_threads.h"

enum { LEAST_SLOTS = 2 };

struct channel {
    sem_t empty, full;
    uint64_t* slot; /* one block after the other */
    char own_line[64];
};

struct exchange {
    int threads, pairs;
    long blocks, periods, words, slots; /* slots of a ring */
    struct channel channel[MAX_THREADS];
    pthread_barrier_t barrier;
    uint64_t checksum[MAX_THREADS];
};

/* A noisy signal: each word depends on the last. */
static void produce(uint64_t* block, long words, uint64_t number) {
    uint64_t value = rng_at(1, number);
    for (long w = 0; w < words; ++w) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        block[w] = value ^ value >> 33;
    }
}

/* A weighted sum, sensitive to the order of the words. */
static uint64_t consume(const uint64_t* block, long words) {
    uint64_t a = 1, b = 0;
    for (long w = 0; w < words; ++w) {
        a += block[w];
        b += a;
    }
    return a ^ b << 1;
}

static void wait_for(sem_t* semaphore) {
    while (sem_wait(semaphore) != 0) continue; /* interrupted by a signal */
}

/* Blocks of pair `pair` in period `period`. */
static void block_range(const struct exchange* x, long period, int pair, long* begin, long* end) {
    const long first = share_begin(x->blocks, (int)period, (int)x->periods);
    const long count = share_begin(x->blocks, (int)period + 1, (int)x->periods) - first;
    *begin = first + share_begin(count, pair, x->pairs);
    *end = first + share_begin(count, pair + 1, x->pairs);
}

static uint64_t run_period(struct exchange* x, int thread, long period) {
    const int half = x->threads / 2;
    const int alone = thread == 2 * half; /* no partner: both roles */
    const int far = period % 2;
    const int pair = alone ? half : far ? thread % (half ? half : 1) : thread / 2;
    const int producer = alone || (far ? thread < half : thread % 2 == 0);
    const int consumer = alone || !producer;
    struct channel* c = &x->channel[pair];
    long begin, end;
    uint64_t sum = 0;
    block_range(x, period, pair, &begin, &end);
    for (long b = begin; b < end; ++b) {
        uint64_t* slot = c->slot + (b - begin) % x->slots * x->words;
        if (producer) {
            wait_for(&c->empty);
            produce(slot, x->words, (uint64_t)b);
            sem_post(&c->full);
        }
        if (consumer) {
            wait_for(&c->full);
            sum += consume(slot, x->words);
            sem_post(&c->empty);
            heartbeat();
        }
    }
    return sum;
}

static void work(int thread, void* shared) {
    struct exchange* x = shared;
    uint64_t sum = 0;
    for (long period = 0; period < x->periods; ++period) {
        sum += run_period(x, thread, period);
        pthread_barrier_wait(&x->barrier);
    }
    x->checksum[thread] = sum;
}

int main(int argc, char** argv) {
    static struct exchange x;
    x.threads = (int)arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS);
    x.blocks = arg_long(argc, argv, 2, "BLOCKS", 1, 100000000);
    x.periods = arg_long(argc, argv, 3, "PERIODS", 1, 100000);
    x.words = arg_long(argc, argv, 4, "WORDS", 1, 1 << 24);
    x.pairs = (x.threads + 1) / 2;
    const long ring_mib = arg_long_or(argc, argv, 5, "RING_MIB", 0, 1L << 20, 0);
    const long fit = (ring_mib << 20) / (x.words * (long)sizeof(uint64_t)) / x.pairs;
    x.slots = fit > LEAST_SLOTS ? fit : LEAST_SLOTS;
    const size_t bytes = (size_t)(x.slots * x.words) * sizeof(uint64_t);
    for (int p = 0; p < x.pairs; ++p) {
        sem_init(&x.channel[p].empty, 0, (unsigned)x.slots);
        sem_init(&x.channel[p].full, 0, 0);
        x.channel[p].slot = pages_for(bytes);
        memset(x.channel[p].slot, 0, bytes);
    }
    pthread_barrier_init(&x.barrier, NULL, (unsigned)x.threads);

    roi_begin();
    run_threads(x.threads, work, &x);
    roi_end();

    uint64_t got = 0, expected = 0;
    for (int t = 0; t < x.threads; ++t) got += x.checksum[t];
    uint64_t* block = x.channel[0].slot;
    for (long b = 0; b < x.blocks; ++b) {
        produce(block, x.words, (uint64_t)b);
        expected += consume(block, x.words);
    }
    if (got != expected) {
        printf("wrong: checksum %016llx, expected %016llx\n", (unsigned long long)got,
               (unsigned long long)expected);
        return 1;
    }
    printf("ok checksum %016llx\n", (unsigned long long)got);
    return 0;
}
