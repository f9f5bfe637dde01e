/* align: the best local alignment of two sequences, as a wavefront over tiles.
 *
 * usage: align THREADS ROWS COLUMNS
 *
 * Smith and Waterman's algorithm with Gotoh's affine gaps. Bands of rows are dealt to the threads
 * in turn; a band runs through its tiles from left to right, each as soon as the band above has
 * left that tile (a flag per band, polled with sched_yield). Only the last row of scores is kept,
 * so what one thread wrote the next thread reads: communication between neighbours in a ring.
 * Check: the score equals that of a serial run down the columns instead of along the rows.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"
#include "training_threads.h"

enum { BAND = 16, TILE = 256, MATCH = 4, MISMATCH = -3, OPEN = 6, EXTEND = 1 };

/* Tiles finished in a band; alone on its line. */
struct progress {
    _Alignas(64) _Atomic long tiles;
};

/* Best score of an alignment that ends here, and of one that ends in a gap in the columns. */
struct cell {
    int32_t score, gap;
};

struct alignment {
    int threads;
    long rows, columns, bands, tiles;
    uint8_t *a, *b;
    struct cell* above; /* last finished row at each column */
    struct progress* progress;
    int32_t best[MAX_THREADS];
};

static inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static inline int32_t pair_score(uint8_t a, uint8_t b) { return a == b ? MATCH : MISMATCH; }

/* State of a band's rows at the border between two tiles. */
struct edge {
    int32_t score[BAND], gap[BAND];
    int32_t corner; /* score above and left of the tile's first cell */
};

static int32_t run_tile(struct alignment* x, long band, long tile, struct edge* left) {
    const long row_end = band * BAND + BAND < x->rows ? band * BAND + BAND : x->rows;
    const long begin = tile * TILE;
    const long end = begin + TILE < x->columns ? begin + TILE : x->columns;
    int32_t best = 0;
    int32_t corner = left->corner;
    left->corner = x->above[end - 1].score;
    for (long i = band * BAND; i < row_end; ++i) {
        const long r = i - band * BAND;
        const uint8_t letter = x->a[i];
        int32_t score = left->score[r], gap = left->gap[r], diagonal = corner;
        corner = score; /* the next row's diagonal neighbour */
        for (long j = begin; j < end; ++j) {
            struct cell up = x->above[j];
            const int32_t gap_down = larger(up.gap, up.score - OPEN) - EXTEND;
            gap = larger(gap, score - OPEN) - EXTEND;
            score =
                larger(larger(0, diagonal + pair_score(letter, x->b[j])), larger(gap, gap_down));
            diagonal = up.score;
            x->above[j] = (struct cell){score, gap_down};
            best = larger(best, score);
        }
        left->score[r] = score;
        left->gap[r] = gap;
    }
    return best;
}

static void work(int thread, void* shared) {
    struct alignment* x = shared;
    int32_t best = 0;
    for (long band = thread; band < x->bands; band += x->threads) {
        struct edge left = {.corner = 0};
        for (long tile = 0; tile < x->tiles; ++tile) {
            if (band > 0) {
                while (atomic_load_explicit(&x->progress[band - 1].tiles, memory_order_acquire) <=
                       tile)
                    sched_yield();
            }
            best = larger(best, run_tile(x, band, tile, &left));
            atomic_store_explicit(&x->progress[band].tiles, tile + 1, memory_order_release);
        }
        heartbeat();
    }
    x->best[thread] = best;
}

/* The same scores column by column, with plain arrays. */
static int32_t serial_score(const struct alignment* x) {
    int32_t* score = calloc((size_t)x->rows + 1, sizeof *score);
    int32_t* gap = calloc((size_t)x->rows + 1, sizeof *gap);
    int32_t best = 0;
    if (score == NULL || gap == NULL) return -1;
    for (long j = 0; j < x->columns; ++j) {
        int32_t diagonal = 0, gap_down = 0;
        for (long i = 0; i < x->rows; ++i) {
            const int32_t left = score[i + 1];
            gap[i + 1] = larger(gap[i + 1], left - OPEN) - EXTEND;
            gap_down = larger(gap_down, score[i] - OPEN) - EXTEND;
            score[i + 1] = larger(larger(0, diagonal + pair_score(x->a[i], x->b[j])),
                                  larger(gap[i + 1], gap_down));
            diagonal = left;
            best = larger(best, score[i + 1]);
        }
    }
    free(score);
    free(gap);
    return best;
}

/* b is random; a is a part of b in which one letter in eight was changed, lost or doubled. */
static void make_sequences(struct alignment* x) {
    x->a = pages_for((size_t)x->rows);
    x->b = pages_for((size_t)x->columns);
    for (long j = 0; j < x->columns; ++j) x->b[j] = (uint8_t)rng_below(1, (uint64_t)j, 4);
    long from = x->columns / 3;
    for (long i = 0; i < x->rows; ++i) {
        const uint32_t fate = rng_below(2, (uint64_t)i, 24);
        x->a[i] = fate == 0 ? (uint8_t)rng_below(3, (uint64_t)i, 4) : x->b[from];
        from = (from + (fate == 1 ? 0 : fate == 2 ? 2 : 1)) % x->columns;
    }
}

int main(int argc, char** argv) {
    static struct alignment x;
    x.threads = (int)arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS);
    x.rows = arg_long(argc, argv, 2, "ROWS", 1, 1 << 24);
    x.columns = arg_long(argc, argv, 3, "COLUMNS", 1, 1 << 24);
    x.bands = (x.rows + BAND - 1) / BAND;
    x.tiles = (x.columns + TILE - 1) / TILE;
    make_sequences(&x);
    const size_t row_bytes = (size_t)x.columns * sizeof(struct cell);
    x.above = pages_for(row_bytes);
    memset(x.above, 0, row_bytes);
    x.progress = pages_for((size_t)x.bands * sizeof(struct progress));
    for (long band = 0; band < x.bands; ++band) atomic_init(&x.progress[band].tiles, 0);

    roi_begin();
    run_threads(x.threads, work, &x);
    roi_end();

    int32_t best = 0;
    for (int t = 0; t < x.threads; ++t) best = larger(best, x.best[t]);
    const int32_t expected = serial_score(&x);
    if (best != expected || best <= 0) {
        printf("wrong: score %d, expected %d\n", best, expected);
        return 1;
    }
    printf("ok score %d of %ld letters\n", best, x.rows);
    return 0;
}
