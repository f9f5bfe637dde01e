// GUPS: updates at random places of one table that all threads share.
//
// usage: gups LOG2_WORDS UPDATES
//
// Each update is atomic. HPC Challenge lets threads lose some, up to one word in a hundred of a
// table of half the memory; of small tables many threads would lose more. Each thread fills a
// stretch of the table. Checked: no update went to another word than its own, and none was lost.
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

    // What updates a word ends with the word's number, so each update takes that number out or puts
    // it in again. All words together hold all updates.
    long wrong = 0;
    uint64_t rest = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(^ : rest)
    for (long i = 0; i < words; ++i) {
        const uint64_t end = table[i] & mask;
        wrong += end != 0 && end != (uint64_t)i;
        rest ^= table[i] ^ (uint64_t)i;
    }
#pragma omp parallel for schedule(static) reduction(^ : rest)
    for (long u = 0; u < updates; ++u) rest ^= scrambled((uint64_t)u);
    return verdict(wrong == 0 && rest == 0, "%ld of %ld words are others' after %ld updates", wrong,
                   words, updates);
}
