// Ping-pong: two threads hand each other a message of many lines, and change each word of what they
// got.
//
// usage: pingpong THREADS LINES ROUNDS          (lines of each message)
//
// Threads 2 i and 2 i + 1 are a pair with two messages under way, so both work at any time; a
// thread without a partner keeps its message. Each thread fills the message that it has first.
// Checked: each word.
#include <sched.h>

#include "kernel.h"

enum { WORDS_OF_LINE = LINE_BYTES / sizeof(uint64_t) };

struct player {
    _Alignas(LINE_BYTES) long rounds_done;
    uint64_t* message;
};

struct game {
    int threads;
    long words, rounds;
    pthread_barrier_t all;
    struct player player[MOST_THREADS];
};

static void change(uint64_t* message, long words) {
    for (long w = 0; w < words; ++w) message[w] = 3 * message[w] + 1;
}

static void work(int number, void* job) {
    struct game* g = job;
    struct player* own = &g->player[number];
    struct player* partner = (number ^ 1) < g->threads ? &g->player[number ^ 1] : own;
    own->message = untouched((size_t)g->words * sizeof *own->message);
    for (long w = 0; w < g->words; ++w) own->message[w] = (uint64_t)w;
    begin_region_together(number, &g->all);
    for (long round = 0; round < g->rounds; ++round) {
        while (__atomic_load_n(&partner->rounds_done, __ATOMIC_ACQUIRE) < round) sched_yield();
        change((round % 2 == 0 ? own : partner)->message, g->words);
        __atomic_store_n(&own->rounds_done, round + 1, __ATOMIC_RELEASE);
    }
    end_region_together(number, &g->all);
}

int main(int argc, char** argv) {
    static struct game g;
    g.threads = (int)whole(argc, argv, 1, "THREADS", 1, MOST_THREADS);
    g.words = whole(argc, argv, 2, "LINES", 1, 1L << 28) * WORDS_OF_LINE;
    g.rounds = whole(argc, argv, 3, "ROUNDS", 1, 1000000);
    pthread_barrier_init(&g.all, NULL, (unsigned)g.threads);
    work_as_team(g.threads, work, &g);

    uint64_t factor = 1, sum = 0;
    for (long round = 0; round < g.rounds; ++round) {
        factor = 3 * factor;
        sum = 3 * sum + 1;
    }
    long wrong = 0;
    for (int t = 0; t < g.threads; ++t)
        for (long w = 0; w < g.words; ++w)
            wrong += g.player[t].message[w] != factor * (uint64_t)w + sum;
    return verdict(wrong == 0, "%ld words differ after %ld rounds", wrong, g.rounds);
}
