// Pointer chase: each thread follows a chain of its own through all its lines, in random order, and
// adds up what it finds there.
//
// usage: chase THREADS LINES STEPS          (lines and steps of each thread)
//
// No load can begin before the last one has ended. Each thread makes its chain. Checked: the place
// in the chain where each thread ends.
#include "kernel.h"

struct link {
    struct link* next;
    uint64_t place;
    char rest[LINE_BYTES - sizeof(struct link*) - sizeof(uint64_t)];
};

struct chase {
    long lines, steps;
    pthread_barrier_t all;
    uint64_t sum[MOST_THREADS];
};

// Returns the first link of a ring through all lines.
static struct link* make_chain(struct link* lines, long count, uint64_t seed) {
    uint32_t* order = malloc((size_t)count * sizeof *order);
    for (long i = 0; i < count; ++i) {
        const long earlier = (long)(scrambled(seed + (uint64_t)i) % ((uint64_t)i + 1));
        order[i] = order[earlier];
        order[earlier] = (uint32_t)i;
    }
    for (long i = 0; i < count; ++i) {
        lines[order[i]].next = &lines[order[i + 1 < count ? i + 1 : 0]];
        lines[order[i]].place = (uint64_t)i;
    }
    struct link* begin = &lines[order[0]];
    free(order);
    return begin;
}

static void work(int number, void* job) {
    struct chase* c = job;
    struct link* lines = untouched((size_t)c->lines * sizeof *lines);
    const struct link* at = make_chain(lines, c->lines, (uint64_t)number << 40);
    begin_region_together(number, &c->all);
    uint64_t sum = 0;
    for (long s = 0; s < c->steps; ++s) {
        sum += at->place;
        at = at->next;
    }
    c->sum[number] = sum;
    end_region_together(number, &c->all);
}

int main(int argc, char** argv) {
    static struct chase c;
    const int threads = (int)whole(argc, argv, 1, "THREADS", 1, MOST_THREADS);
    c.lines = whole(argc, argv, 2, "LINES", 1, 1L << 31);
    c.steps = whole(argc, argv, 3, "STEPS", 1, 1L << 40);
    pthread_barrier_init(&c.all, NULL, (unsigned)threads);
    work_as_team(threads, work, &c);

    // Places ascend along the chain.
    const uint64_t lines = (uint64_t)c.lines, rounds = (uint64_t)(c.steps / c.lines);
    const uint64_t rest = (uint64_t)(c.steps % c.lines);
    const uint64_t expected = rounds * (lines * (lines - 1) / 2) + rest * (rest - 1) / 2;
    int wrong = 0;
    for (int t = 0; t < threads; ++t) wrong += c.sum[t] != expected;
    return verdict(wrong == 0, "%d of %d sums differ from %lu", wrong, threads, expected);
}
