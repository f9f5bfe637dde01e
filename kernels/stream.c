// STREAM: one of its four loops over long vectors, sweep after sweep.
//
// usage: stream copy|scale|add|triad ELEMENTS SWEEPS
//
// Every thread has the same stretch of every vector in each sweep, and filled it. Checked: each
// element of the result.
#include <string.h>

#include "kernel.h"

static const double kFactor = 3.0;
static const char* const kNames[] = {"copy", "scale", "add", "triad"};
enum loop { COPY, SCALE, ADD, TRIAD, LOOPS };

static double first(long i) { return 1.0 + (double)(i % 1000); }
static double second(long i) { return 2.0 * (double)(i % 77); }

static void sweep(enum loop loop, long count, double* out, const double* a, const double* b) {
    switch (loop) {
        case COPY:
#pragma omp parallel for simd schedule(static)
            for (long i = 0; i < count; ++i) out[i] = a[i];
            break;
        case SCALE:
#pragma omp parallel for simd schedule(static)
            for (long i = 0; i < count; ++i) out[i] = kFactor * a[i];
            break;
        case ADD:
#pragma omp parallel for simd schedule(static)
            for (long i = 0; i < count; ++i) out[i] = a[i] + b[i];
            break;
        default:
#pragma omp parallel for simd schedule(static)
            for (long i = 0; i < count; ++i) out[i] = a[i] + kFactor * b[i];
    }
}

static double expected(enum loop loop, long i) {
    switch (loop) {
        case COPY:
            return first(i);
        case SCALE:
            return kFactor * first(i);
        case ADD:
            return first(i) + second(i);
        default:
            return first(i) + kFactor * second(i);
    }
}

int main(int argc, char** argv) {
    int loop = 0;
    while (loop < LOOPS && (argc < 2 || strcmp(argv[1], kNames[loop]) != 0)) ++loop;
    if (loop == LOOPS) {
        fprintf(stderr, "%s: argument 1 is a loop, expected copy, scale, add or triad\n", argv[0]);
        return 2;
    }
    const long count = whole(argc, argv, 2, "ELEMENTS", 1, 1L << 36);
    const long sweeps = whole(argc, argv, 3, "SWEEPS", 1, 1000000);
    const size_t bytes = (size_t)count * sizeof(double);
    const int two = loop == ADD || loop == TRIAD;
    double* out = untouched(bytes);
    double* a = untouched(bytes);
    double* b = two ? untouched(bytes) : a;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; ++i) {
        out[i] = 0.0;
        if (two) b[i] = second(i);
        a[i] = first(i);
    }

    begin_region();
    for (long s = 0; s < sweeps; ++s) sweep((enum loop)loop, count, out, a, b);
    end_region();

    long wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (long i = 0; i < count; ++i) wrong += out[i] != expected((enum loop)loop, i);
    return verdict(wrong == 0, "%s: %ld of %ld elements differ", kNames[loop], wrong, count);
}
