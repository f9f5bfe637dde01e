// Histogram of many samples, in bins that all threads share and count in atomically.
//
// usage: histogram SAMPLES BINS SWEEPS
//
// Low bins are hit more often than high ones. The main thread fills the samples, as if it read a
// file. Checked: each bin.
#include "kernel.h"

static inline long bin_of(double sample, long bins) { return (long)(sample * (double)bins); }

int main(int argc, char** argv) {
    const long count = whole(argc, argv, 1, "SAMPLES", 1, 1L << 36);
    const long bins = whole(argc, argv, 2, "BINS", 1, 1L << 28);
    const long sweeps = whole(argc, argv, 3, "SWEEPS", 1, 1000000);
    double* sample = untouched((size_t)count * sizeof *sample);
    uint64_t* bin = untouched((size_t)bins * sizeof *bin);
    for (long i = 0; i < count; ++i) {
        const double place = scrambled_unit((uint64_t)i);
        sample[i] = place * place;
    }
    for (long b = 0; b < bins; ++b) bin[b] = 0;

    begin_region();
    for (long s = 0; s < sweeps; ++s) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < count; ++i) {
            const long b = bin_of(sample[i], bins);
#pragma omp atomic
            ++bin[b];
        }
    }
    end_region();

    for (long i = 0; i < count; ++i) bin[bin_of(sample[i], bins)] -= (uint64_t)sweeps;
    long wrong = 0;
    for (long b = 0; b < bins; ++b) wrong += bin[b] != 0;
    return verdict(wrong == 0, "%ld of %ld bins differ", wrong, bins);
}
