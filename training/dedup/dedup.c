/* dedup: a deduplicating archiver as a pipeline of stages joined by bounded queues.
 *
 * usage: dedup THREADS KIB
 *
 *   split ─► chunk (rolling hash) ─► look up in the shared table ─► compress (LZ) ─► ordered write
 *
 * Splitting and writing are one thread each, the stages between share the rest: 1 thread runs all
 * stages in turn, 2 and 3 threads run neighbouring stages together. Chunks known already go past
 * the compressor. Chunk borders depend on content only, so the archive is the same for every number
 * of threads.
 * Check: the archive is read back and equals the input byte for byte.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autofinity_roi.h"
#include "lz.h"
#include "queue.h"
#include "store.h"
#include "training_args.h"
#include "training_rng.h"
#include "training_threads.h"

enum {
    FRAGMENT_BYTES = 128 << 10,
    MIN_CHUNK = 1024,
    MAX_CHUNK = 16384,
    BORDER_MASK = 0x7ff, /* a border every 2 KiB on average after the minimum */
    WINDOW = 32,
    MAX_CHUNKS = FRAGMENT_BYTES / MIN_CHUNK + 1,
    BATCH = 16,
};

enum stage { CHUNK, LOOKUP, COMPRESS, WRITE, STAGES };

/* A chunk on its way: the index-th of its fragment, of which there are `of`. */
struct item {
    long fragment;
    int index, of;
    const uint8_t* data;
    size_t bytes;
    struct content* content;
    int fresh;
};

/* What queues carry: a few chunks, so that a lock is taken once for all of them. */
struct batch {
    int count;
    struct item item[BATCH];
};

struct fragment {
    int of;                              /* 0: nothing received yet */
    struct content* content[MAX_CHUNKS]; /* as received, by index */
};

struct archive {
    long* order; /* numbers of contents in the order of the input */
    long chunks;
    struct content** distinct;
    long distincts;
    size_t packed_bytes;
};

struct pipeline {
    int threads;
    const uint8_t* input;
    size_t bytes;
    long fragments;
    int group_of_thread[MAX_THREADS];
    int first_stage[STAGES + 2];   /* by group; -1: the splitter */
    struct queue into[STAGES + 2]; /* by group */
    int group_of_stage[STAGES];
    struct store store;
    struct fragment* fragment;
    struct archive archive;
    long next_fragment;
    int next_index;
    uint64_t gear[256];
};

/* The worker's own scratch memory and unsent batches. */
struct worker {
    struct pipeline* p;
    int group;
    uint16_t lz_table[1 << LZ_HASH_BITS];
    uint8_t packed[MAX_CHUNK + MAX_CHUNK / LZ_MAX_LITERALS + 1];
    struct batch* outgoing[STAGES];
};

static void* checked(void* memory) {
    if (memory == NULL) {
        fprintf(stderr, "out of memory: choose a smaller input\n");
        exit(2);
    }
    return memory;
}

static void run_stage(struct worker* w, enum stage stage, struct item item);

static void flush(struct worker* w, enum stage stage) {
    if (w->outgoing[stage] == NULL) return;
    queue_push(&w->p->into[w->p->group_of_stage[stage]], w->outgoing[stage]);
    w->outgoing[stage] = NULL;
}

/* Hands an item to a stage: a call inside the group, a queue between groups. */
static void pass_on(struct worker* w, enum stage stage, struct item item) {
    if (w->p->group_of_stage[stage] == w->group) {
        run_stage(w, stage, item);
        return;
    }
    if (w->outgoing[stage] == NULL) {
        w->outgoing[stage] = checked(malloc(sizeof(struct batch)));
        w->outgoing[stage]->count = 0;
    }
    struct batch* batch = w->outgoing[stage];
    batch->item[batch->count++] = item;
    if (batch->count == BATCH) flush(w, stage);
}

/* Length of the chunk that begins at `data`: up to a border of the rolling hash. */
static size_t chunk_length(const uint64_t* gear, const uint8_t* data, size_t bytes) {
    if (bytes <= MIN_CHUNK) return bytes;
    const size_t limit = bytes < MAX_CHUNK ? bytes : MAX_CHUNK;
    uint64_t hash = 0;
    /* The hash forgets a byte after 32 shifts by 2, so it may start one window early. */
    for (size_t at = MIN_CHUNK - WINDOW; at < limit; ++at) {
        hash = (hash << 2) + gear[data[at]];
        if (at >= MIN_CHUNK && (hash >> 48 & BORDER_MASK) == 0) return at + 1;
    }
    return limit;
}

static void chunk_fragment(struct worker* w, struct item whole) {
    size_t lengths[MAX_CHUNKS];
    int count = 0;
    for (size_t at = 0; at < whole.bytes; at += lengths[count++])
        lengths[count] = chunk_length(w->p->gear, whole.data + at, whole.bytes - at);
    const uint8_t* data = whole.data;
    for (int i = 0; i < count; ++i) {
        pass_on(w, LOOKUP, (struct item){whole.fragment, i, count, data, lengths[i], NULL, 0});
        data += lengths[i];
    }
}

static void compress(struct worker* w, struct content* c) {
    c->packed_bytes = lz_compress(c->data, c->bytes, w->packed, w->lz_table);
    c->packed = checked(malloc(c->packed_bytes));
    memcpy(c->packed, w->packed, c->packed_bytes);
}

/* The write stage never waits for one chunk: it takes what comes and writes as far as the order of
 * the input allows, so no queue can fill up behind it for good. */
static void write_in_order(struct pipeline* p, struct item item) {
    struct archive* a = &p->archive;
    if (item.fresh) item.content->arrived = 1;
    p->fragment[item.fragment].of = item.of;
    p->fragment[item.fragment].content[item.index] = item.content;
    while (p->next_fragment < p->fragments) {
        struct fragment* f = &p->fragment[p->next_fragment];
        struct content* c = f->of ? f->content[p->next_index] : NULL;
        if (c == NULL || !c->arrived) return;
        if (c->written_as < 0) {
            c->written_as = a->distincts;
            a->distinct[a->distincts++] = c;
            a->packed_bytes += c->packed_bytes;
        }
        a->order[a->chunks++] = c->written_as;
        if (++p->next_index == f->of) {
            p->next_index = 0;
            ++p->next_fragment;
            heartbeat();
        }
    }
}

static void run_stage(struct worker* w, enum stage stage, struct item item) {
    switch (stage) {
        case CHUNK:
            chunk_fragment(w, item);
            break;
        case LOOKUP:
            item.content = store_find_or_add(&w->p->store, item.data, item.bytes, &item.fresh);
            pass_on(w, item.fresh ? COMPRESS : WRITE, item);
            break;
        case COMPRESS:
            compress(w, item.content);
            pass_on(w, WRITE, item);
            break;
        default:
            write_in_order(w->p, item);
    }
}

static void split_input(struct worker* w) {
    struct pipeline* p = w->p;
    for (long f = 0; f < p->fragments; ++f) {
        const size_t begin = (size_t)f * FRAGMENT_BYTES;
        const size_t left = p->bytes - begin;
        const size_t bytes = left < FRAGMENT_BYTES ? left : FRAGMENT_BYTES;
        pass_on(w, CHUNK, (struct item){f, 0, 1, p->input + begin, bytes, NULL, 0});
        /* A fragment is work enough for a message of its own. */
        flush(w, CHUNK);
    }
}

static void work(int thread, void* shared) {
    struct pipeline* p = shared;
    struct worker* w = checked(calloc(1, sizeof *w));
    w->p = p;
    w->group = p->group_of_thread[thread];
    if (w->group == 0) {
        split_input(w);
    } else {
        struct batch* batch;
        while ((batch = queue_pop(&p->into[w->group])) != NULL) {
            for (int i = 0; i < batch->count; ++i)
                run_stage(w, (enum stage)p->first_stage[w->group], batch->item[i]);
            free(batch);
        }
    }
    for (int s = 0; s < STAGES; ++s) flush(w, (enum stage)s);
    /* Later groups end when all earlier ones have: each group is a producer of all after it. */
    for (int g = w->group + 1; g <= p->group_of_stage[WRITE]; ++g) queue_producer_done(&p->into[g]);
    free(w);
}

/* Which threads run which stages. `last` is the last stage of each group; group 0 also splits. */
static void assign_threads(struct pipeline* p) {
    const int n = p->threads;
    int members[STAGES + 1] = {1, 0, 0, 0, 0};
    int last[STAGES + 1] = {WRITE, 0, 0, 0, 0};
    int groups = 1;
    if (n == 2) {
        groups = 2, last[0] = LOOKUP, last[1] = WRITE, members[1] = 1;
    } else if (n == 3) {
        groups = 3, last[0] = CHUNK, last[1] = COMPRESS, last[2] = WRITE;
        members[1] = members[2] = 1;
    } else if (n == 4) {
        groups = 4, last[0] = CHUNK, last[1] = LOOKUP, last[2] = COMPRESS, last[3] = WRITE;
        members[1] = members[2] = members[3] = 1;
    } else if (n > 4) {
        groups = 5;
        for (int g = 0; g < 5; ++g) last[g] = g - 1;
        const int inner = n - 2; /* at least 3, divided like the work: about 4 : 1 : 5 */
        members[1] = inner * 4 / 10 > 0 ? inner * 4 / 10 : 1;
        members[2] = inner / 10 > 0 ? inner / 10 : 1;
        members[3] = inner - members[1] - members[2];
        members[4] = 1;
    }
    int thread = 0, producers = 0;
    for (int g = 0; g < groups; ++g) {
        p->first_stage[g] = g == 0 ? -1 : last[g - 1] + 1;
        for (int s = p->first_stage[g] < 0 ? 0 : p->first_stage[g]; s <= last[g]; ++s)
            p->group_of_stage[s] = g;
        queue_init(&p->into[g], producers);
        producers += members[g];
        for (int m = 0; m < members[g]; ++m) p->group_of_thread[thread++] = g;
    }
}

/* Text-like input: words from a small dictionary, and every other 8 KiB block a copy, shifted by a
 * few bytes, of an earlier one. */
static uint8_t* make_input(size_t bytes) {
    enum { BLOCK = 8192, WORDS = 2048 };
    uint8_t* data = pages_for(bytes);
    size_t at = 0;
    for (uint64_t draw = 0; at < bytes; ++draw) {
        const size_t room = bytes - at;
        if (at > 2 * BLOCK && rng_below(1, draw, 2) == 0) {
            const size_t length = BLOCK + rng_below(2, draw, 64);
            const size_t from = (size_t)(rng_unit(3, draw) * (double)(at - length));
            const size_t take = length < room ? length : room;
            memcpy(data + at, data + from, take);
            at += take;
            continue;
        }
        const size_t stop = at + (room < BLOCK ? room : BLOCK);
        for (uint64_t word = 0; at < stop; ++word) {
            const uint64_t which = rng_below(4, draw * BLOCK + word, WORDS);
            uint64_t letters = rng_at(5, which);
            for (uint64_t l = 2 + which % 7; l > 0 && at < stop; --l, letters >>= 5)
                data[at++] = (uint8_t)('a' + (letters & 31) % 26);
            if (at < stop) data[at++] = ' ';
        }
    }
    return data;
}

static int archive_equals_input(const struct pipeline* p) {
    const struct archive* a = &p->archive;
    uint8_t chunk[MAX_CHUNK];
    size_t at = 0;
    for (long i = 0; i < a->chunks; ++i) {
        const struct content* c = a->distinct[a->order[i]];
        const size_t bytes = lz_expand(c->packed, c->packed_bytes, chunk, sizeof chunk);
        if (bytes > p->bytes - at || memcmp(chunk, p->input + at, bytes) != 0) return 0;
        at += bytes;
    }
    return at == p->bytes;
}

int main(int argc, char** argv) {
    static struct pipeline p;
    p.threads = (int)arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS);
    p.bytes = (size_t)arg_long(argc, argv, 2, "KIB", 1, 4 << 20) << 10;
    p.fragments = (long)((p.bytes + FRAGMENT_BYTES - 1) / FRAGMENT_BYTES);
    p.input = make_input(p.bytes);
    for (int b = 0; b < 256; ++b) p.gear[b] = rng_at(6, (uint64_t)b);
    store_init(&p.store, p.bytes);
    p.fragment = checked(calloc((size_t)p.fragments, sizeof *p.fragment));
    const size_t most = p.bytes / MIN_CHUNK + (size_t)p.fragments + 1;
    p.archive.order = checked(calloc(most, sizeof *p.archive.order));
    p.archive.distinct = checked(calloc(most, sizeof *p.archive.distinct));
    assign_threads(&p);

    roi_begin();
    run_threads(p.threads, work, &p);
    roi_end();

    if (!archive_equals_input(&p)) {
        printf("wrong: the archive of %ld chunks does not give the input back\n", p.archive.chunks);
        return 1;
    }
    printf("ok chunks %ld distinct %ld packed %zu of %zu bytes\n", p.archive.chunks,
           p.archive.distincts, p.archive.packed_bytes, p.bytes);
    return 0;
}
