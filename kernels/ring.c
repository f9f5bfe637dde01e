// Rings with one producer and one consumer: what one thread has goes through a ring to another.
//
// usage: ring THREADS ITEMS SWEEPS          (items of each pair, of one line each)
//
// Of N threads, thread i < N / 2 produces for thread i + N / 2; a thread without a partner copies
// by itself. Both count in lines of their own, and tell the other after each batch. The consumer
// fills the ring and what it receives into, the producer what it sends. Checked: each item.
#include <sched.h>

#include "kernel.h"

enum { WORDS = LINE_BYTES / sizeof(uint64_t), BATCH = 64, SLOTS = 16 * BATCH };

struct item {
    uint64_t word[WORDS];
};

struct pair {
    _Alignas(LINE_BYTES) long sent;
    _Alignas(LINE_BYTES) long taken;
    _Alignas(LINE_BYTES) struct item* from, *slot, *to;
};

struct rings {
    int pairs;
    long items, sweeps;
    pthread_barrier_t all;
    struct pair pair[MOST_THREADS];
};

static struct item item_of(long number, long sweep) {
    struct item made;
    for (int w = 0; w < WORDS; ++w) made.word[w] = (uint64_t)(number * WORDS + w + sweep);
    return made;
}

static struct item changed(struct item item, long sweep) {
    for (int w = 0; w < WORDS; ++w) item.word[w] += (uint64_t)sweep;
    return item;
}

static long batch_end(const struct rings* r, long begin) {
    return begin + BATCH < r->items ? begin + BATCH : r->items;
}

static void send_all(const struct rings* r, struct pair* p, long sweep) {
    const long before = sweep * r->items;
    for (long begin = 0, end; begin < r->items; begin = end) {
        end = batch_end(r, begin);
        while (before + end - __atomic_load_n(&p->taken, __ATOMIC_ACQUIRE) > SLOTS) sched_yield();
        for (long i = begin; i < end; ++i)
            p->slot[(before + i) % SLOTS] = changed(p->from[i], sweep);
        __atomic_store_n(&p->sent, before + end, __ATOMIC_RELEASE);
    }
}

static void take_all(const struct rings* r, struct pair* p, long sweep) {
    const long before = sweep * r->items;
    for (long begin = 0, end; begin < r->items; begin = end) {
        end = batch_end(r, begin);
        while (__atomic_load_n(&p->sent, __ATOMIC_ACQUIRE) < before + end) sched_yield();
        for (long i = begin; i < end; ++i) p->to[i] = p->slot[(before + i) % SLOTS];
        __atomic_store_n(&p->taken, before + end, __ATOMIC_RELEASE);
    }
}

static void copy_all(const struct rings* r, struct pair* p, long sweep) {
    for (long i = 0; i < r->items; ++i) p->to[i] = changed(p->from[i], sweep);
}

static struct item* filled(long items) {
    struct item* made = untouched((size_t)items * sizeof *made);
    for (long i = 0; i < items; ++i) made[i] = item_of(i, 0);
    return made;
}

static void work(int number, void* job) {
    struct rings* r = job;
    const int alone = number == 2 * r->pairs;
    const int producer = alone || number < r->pairs, consumer = alone || !producer;
    struct pair* p = &r->pair[alone ? r->pairs : number % r->pairs];
    if (producer) p->from = filled(r->items);
    if (consumer) {
        p->slot = filled(SLOTS);
        p->to = filled(r->items);
    }
    begin_region_together(number, &r->all);
    for (long sweep = 0; sweep < r->sweeps; ++sweep) {
        if (alone) {
            copy_all(r, p, sweep);
        } else if (producer) {
            send_all(r, p, sweep);
        } else {
            take_all(r, p, sweep);
        }
    }
    end_region_together(number, &r->all);
}

int main(int argc, char** argv) {
    static struct rings r;
    const int threads = (int)whole(argc, argv, 1, "THREADS", 1, MOST_THREADS);
    r.pairs = threads / 2;
    r.items = whole(argc, argv, 2, "ITEMS", 1, 1L << 32);
    r.sweeps = whole(argc, argv, 3, "SWEEPS", 1, 1000000);
    pthread_barrier_init(&r.all, NULL, (unsigned)threads);
    work_as_team(threads, work, &r);

    long wrong = 0;
    for (int p = 0; p < (threads + 1) / 2; ++p)
        for (long i = 0; i < r.items; ++i) {
            const struct item expected = item_of(i, r.sweeps - 1);
            for (int w = 0; w < WORDS; ++w) wrong += r.pair[p].to[i].word[w] != expected.word[w];
        }
    return verdict(wrong == 0, "%ld words differ after %ld sweeps", wrong, r.sweeps);
}
