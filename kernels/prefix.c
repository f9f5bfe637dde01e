// Parallel prefix sum: each element becomes the sum of all up to it.
//
// usage: prefix ELEMENTS SWEEPS
//
// Threads add their stretches up, meet, and go over them again from where those before them end.
// Each thread fills its stretch. Checked: neighbours differ by the element between them.
#include <omp.h>

#include "kernel.h"

struct padded {
    _Alignas(LINE_BYTES) uint64_t sum;
};

static uint64_t element(long i) { return scrambled((uint64_t)i) >> 40; }

static void prefix_sum(long count, uint64_t* restrict out, const uint64_t* restrict in,
                       struct padded* partial) {
#pragma omp parallel
    {
        const int part = omp_get_thread_num(), parts = omp_get_num_threads();
        const long begin = part_begin(count, part, parts), end = part_begin(count, part + 1, parts);
        uint64_t sum = 0;
        for (long i = begin; i < end; ++i) sum += in[i];
        partial[part].sum = sum;
#pragma omp barrier
        sum = 0;
        for (int before = 0; before < part; ++before) sum += partial[before].sum;
        for (long i = begin; i < end; ++i) {
            sum += in[i];
            out[i] = sum;
        }
    }
}

int main(int argc, char** argv) {
    const long count = whole(argc, argv, 1, "ELEMENTS", 1, 1L << 36);
    const long sweeps = whole(argc, argv, 2, "SWEEPS", 1, 1000000);
    uint64_t* in = untouched((size_t)count * sizeof *in);
    uint64_t* out = untouched((size_t)count * sizeof *out);
    struct padded* partial = untouched((size_t)omp_get_max_threads() * sizeof *partial);
#pragma omp parallel
    {
        const int part = omp_get_thread_num(), parts = omp_get_num_threads();
        const long end = part_begin(count, part + 1, parts);
        for (long i = part_begin(count, part, parts); i < end; ++i) {
            in[i] = element(i);
            out[i] = 0;
        }
    }

    begin_region();
    for (long s = 0; s < sweeps; ++s) prefix_sum(count, out, in, partial);
    end_region();

    long wrong = out[0] != element(0);
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (long i = 1; i < count; ++i) wrong += out[i] - out[i - 1] != element(i);
    return verdict(wrong == 0, "%ld of %ld elements differ, sum %lu", wrong, count, out[count - 1]);
}
