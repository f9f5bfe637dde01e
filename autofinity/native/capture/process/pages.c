#include "capture/process/pages.h"

#include "capture/record/output.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"
#include "capture/warm/first_touch.h"
#include "trace/model.h"

enum { EPOCHS = AF_LAST_EPOCH + 1 };

typedef struct {
    uint64_t first, pages;
    uint32_t toucher;
} run;

// Numbers of touches by epoch, within one in order. A thread records its touches a little later, so
// threads that are already in the next epoch may have been recorded first.
static uint32_t* by_epoch(uint64_t n, uint64_t* kept) {
    uint32_t* const order = af_map((n + 1) * sizeof *order);
    uint64_t* const starts = af_map((EPOCHS + 1) * sizeof *starts);
    if (order == NULL || starts == NULL) return NULL;
    uint64_t page;
    uint32_t toucher;
    for (uint64_t i = 0; i < n; i++)
        if (af_first_touch_at(i, &page, &toucher)) starts[af_epoch_of(toucher) + 1]++;
    for (int e = 0; e < EPOCHS; e++) starts[e + 1] += starts[e];
    *kept = starts[EPOCHS];
    for (uint64_t i = 0; i < n; i++)
        if (af_first_touch_at(i, &page, &toucher))
            order[starts[af_epoch_of(toucher)]++] = (uint32_t)i;
    af_unmap(starts, (EPOCHS + 1) * sizeof *starts);
    return order;
}

static bool next_run(const uint32_t* order, uint64_t n, uint64_t* at, run* found) {
    uint64_t page;
    uint32_t toucher;
    for (*found = (run){0}; *at < n; ++*at) {
        af_first_touch_at(order[*at], &page, &toucher);
        if (found->pages > 0 && (page != found->first + found->pages || toucher != found->toucher))
            break;
        if (found->pages++ == 0) *found = (run){page, 1, toucher};
    }
    return found->pages > 0;
}

const uint64_t* af_pages_write(void) {
    const uint64_t touches = af_first_touches();
    uint64_t* const until = af_map(EPOCHS * sizeof *until);
    uint64_t n = 0, runs = 0;
    uint32_t* const order = by_epoch(touches, &n);
    if (until == NULL || order == NULL) return NULL;
    run found;
    for (uint64_t at = 0; next_run(order, n, &at, &found); runs++)
        until[af_epoch_of(found.toucher)]++;
    for (int e = 1; e < EPOCHS; e++) until[e] += until[e - 1];
    af_output* const o = af_output_begin("pages.afp");
    const af_sampled_file header = {AF_PAGES_MAGIC, AF_SAMPLED_VERSION, 0};
    af_output_bytes(o, &header, sizeof header);
    af_output_number(o, runs);
    uint64_t after = 0;
    for (uint64_t at = 0; next_run(order, n, &at, &found); after = found.first + found.pages) {
        af_output_number(o, af_zigzag(found.first - after));
        af_output_number(o, found.pages);
        af_output_number(o, af_stream_of(found.toucher));
    }
    af_output_end(o);
    af_unmap(order, (touches + 1) * sizeof *order);
    return until;
}
