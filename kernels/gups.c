// GUPS: updates at random places of one table that all threads share.
//
// usage: gups LOG2_WORDS UPDATES
//
// Each update is atomic. HPC Challenge lets threads lose some, up to one word in a hundred of a
// table of half the memory; of small tables many threads would lose more. Each thread fills a
// stretch of the table. Checked: the same updates again give the table back.
#include "kernel.h"

static void update(uint64_t* table, uint64_t mask, long updates) {
#pragma omp parallel for schedule(static)
    for (long u = 0; u < updates; ++u) {
        const uint64_t value = scrambled((uint64_t)u);
#pragma omp atomic
        table[value & mask] ^= value;
    }
}

int main(int argc, char** argv) {
    const long words = 1L << whole(argc, argv, 1, "LOG2_WORDS", 1, 36);
    const long updates = whole(argc, argv, 2, "UPDATES", 1, 1L << 40);
    const uint64_t mask = (uint64_t)words - 1;
    uint64_t* table = untouched((size_t)words * sizeof *table);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < words; ++i) table[i] = (uint64_t)i;

    begin_region();
    update(table, mask, updates);
    end_region();

    update(table, mask, updates);
    long wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (long i = 0; i < words; ++i) wrong += table[i] != (uint64_t)i;
    return verdict(wrong == 0, "%ld of %ld words differ after %ld updates", wrong, words, updates);
}
