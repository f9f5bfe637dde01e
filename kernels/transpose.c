// Transpose of a square matrix into another, element by element, there and back.
//
// usage: transpose ORDER SWEEPS
//
// Each thread writes rows and reads columns: those of its own rows and of everybody's. Rows are
// filled by the threads that write them. Checked: each element.
#include "kernel.h"

static void transpose(long order, double* restrict out, const double* restrict in) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < order; ++i)
        for (long j = 0; j < order; ++j) out[i * order + j] = in[j * order + i];
}

int main(int argc, char** argv) {
    const long order = whole(argc, argv, 1, "ORDER", 1, 1L << 18);
    const long sweeps = whole(argc, argv, 2, "SWEEPS", 1, 1000000);
    const size_t bytes = (size_t)(order * order) * sizeof(double);
    double *matrix = untouched(bytes), *other = untouched(bytes);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < order; ++i)
        for (long j = 0; j < order; ++j) {
            matrix[i * order + j] = (double)(i * order + j);
            other[i * order + j] = 0.0;
        }

    begin_region();
    for (long s = 0; s < sweeps; ++s) {
        transpose(order, other, matrix);
        double* last = matrix;
        matrix = other;
        other = last;
    }
    end_region();

    long wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (long i = 0; i < order; ++i)
        for (long j = 0; j < order; ++j)
            wrong += matrix[i * order + j] != (double)(sweeps % 2 ? j * order + i : i * order + j);
    return verdict(wrong == 0, "%ld of %ld elements differ", wrong, order * order);
}
