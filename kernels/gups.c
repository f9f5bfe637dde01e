// GUPS: updates at random places of one table that all threads share.
//
// usage: gups LOG2_WORDS UPDATES
//
// As HPC Challenge defines it, threads do not protect an update from another's of the same word,
// and up to one word in a hundred may be wrong in the end. Each thread fills a stretch of the
// table. Checked: the same updates again, protected, give the table back.
#include "kernel.h"

int main(int argc, char** argv) {
    const long words = 1L << whole(argc, argv, 1, "LOG2_WORDS", 1, 36);
    const long updates = whole(argc, argv, 2, "UPDATES", 1, 1L << 40);
    const uint64_t mask = (uint64_t)words - 1;
    uint64_t* table = untouched((size_t)words * sizeof *table);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < words; ++i) table[i] = (uint64_t)i;

    begin_region();
#pragma omp parallel for schedule(static)
    for (long u = 0; u < updates; ++u) {
        const uint64_t value = scrambled((uint64_t)u);
        table[value & mask] ^= value;
    }
    end_region();

#pragma omp parallel for schedule(static)
    for (long u = 0; u < updates; ++u) {
        const uint64_t value = scrambled((uint64_t)u);
#pragma omp atomic
        table[value & mask] ^= value;
    }
    long wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (long i = 0; i < words; ++i) wrong += table[i] != (uint64_t)i;
    const int right = wrong <= words / 100;
    return verdict(right, "%ld updates of %ld words, at most 1 %% lost", updates, words);
}
