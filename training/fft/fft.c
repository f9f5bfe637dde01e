/* fft: delays a signal by multiplying its spectrum, with a parallel six-step transform.
 *
 * usage: fft LOG2_SAMPLES ROUNDS          (even LOG2_SAMPLES; threads: OMP_NUM_THREADS)
 *
 * The signal is a square matrix; a transform is: transpose, transform the rows, multiply by the
 * twiddle factors, transpose, transform the rows, transpose (Bailey, 1990). In a transpose every
 * thread reads from every other: all-to-all communication between phases without any. Each round
 * goes to the spectrum, turns its phases and comes back, which delays the signal around its end.
 * Check: every sample is where the delays put it.
 */
#include <math.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

typedef double complex_t __attribute__((vector_size(16))); /* real, imaginary */

enum { TILE = 8 };

struct plan {
    long side, samples; /* samples = side * side */
    complex_t* rows;    /* exp(-2 pi i k / side), k < side / 2 */
    complex_t* whole;   /* exp(-2 pi i k / samples) in two levels: k = high * side + low */
    complex_t* coarse;
    int* reversed; /* bit reversal of row positions */
};

static inline complex_t multiply(complex_t a, complex_t b) {
    return (complex_t){a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
}

static inline complex_t conjugate(complex_t a) { return (complex_t){a[0], -a[1]}; }

static complex_t root(long k, long n) {
    const double angle = -2.0 * 3.14159265358979323846 * (double)k / (double)n;
    return (complex_t){cos(angle), sin(angle)};
}

static struct plan make_plan(int log2_samples) {
    struct plan p;
    p.side = 1L << (log2_samples / 2);
    p.samples = p.side * p.side;
    p.rows = pages_for((size_t)p.side * sizeof(complex_t));
    p.whole = pages_for((size_t)p.side * sizeof(complex_t));
    p.coarse = pages_for((size_t)p.side * sizeof(complex_t));
    p.reversed = pages_for((size_t)p.side * sizeof(int));
    for (long k = 0; k < p.side; ++k) {
        p.rows[k] = root(k, p.side);
        p.whole[k] = root(k, p.samples);
        p.coarse[k] = root(k, p.side);
        int r = 0;
        for (int bit = 0; bit < log2_samples / 2; ++bit)
            r |= (int)(k >> bit & 1) << (log2_samples / 2 - 1 - bit);
        p.reversed[k] = r;
    }
    return p;
}

/* exp(-2 pi i k / samples) for 0 <= k < samples. */
static inline complex_t twiddle(const struct plan* p, long k) {
    return multiply(p->coarse[k / p->side], p->whole[k % p->side]);
}

static void transform_row(const struct plan* p, complex_t* row) {
    const long n = p->side;
    for (long i = 0; i < n; ++i) {
        const long j = p->reversed[i];
        if (i < j) {
            const complex_t held = row[i];
            row[i] = row[j];
            row[j] = held;
        }
    }
    for (long half = 1; half < n; half *= 2) {
        const long stride = n / (2 * half);
        for (long k = 0; k < half; ++k) {
            const complex_t w = p->rows[k * stride];
            for (long i = k; i < n; i += 2 * half) {
                const complex_t even = row[i], odd = multiply(w, row[i + half]);
                row[i] = even + odd;
                row[i + half] = even - odd;
            }
        }
    }
}

static void transpose(const struct plan* p, const complex_t* from, complex_t* to) {
    const long n = p->side;
#pragma omp for schedule(static)
    for (long row = 0; row < n; row += TILE)
        for (long column = 0; column < n; column += TILE)
            for (long i = row; i < row + TILE; ++i)
                for (long j = column; j < column + TILE; ++j) to[i * n + j] = from[j * n + i];
}

/* The spectrum of `data`, into `data`; called by all threads of a team. */
static void transform(const struct plan* p, complex_t* data, complex_t* scratch) {
    const long n = p->side;
    transpose(p, data, scratch);
#pragma omp for schedule(static)
    for (long i = 0; i < n; ++i) {
        complex_t* row = scratch + i * n;
        transform_row(p, row);
        for (long j = 0; j < n; ++j) row[j] = multiply(row[j], twiddle(p, i * j));
    }
    transpose(p, scratch, data);
#pragma omp for schedule(static)
    for (long i = 0; i < n; ++i) transform_row(p, data + i * n);
    transpose(p, data, scratch);
#pragma omp for schedule(static)
    for (long i = 0; i < n * n; ++i) data[i] = scratch[i];
}

/* Delays the signal by `delay` samples. The way back is conjugate, transform, conjugate. */
static void delay_signal(const struct plan* p, complex_t* data, complex_t* scratch, long delay) {
#pragma omp parallel
    {
        transform(p, data, scratch);
#pragma omp for schedule(static)
        for (long k = 0; k < p->samples; ++k)
            data[k] =
                conjugate(multiply(data[k], twiddle(p, (long)((__int128)k * delay % p->samples))));
        transform(p, data, scratch);
        const double scale = 1.0 / (double)p->samples;
#pragma omp for schedule(static)
        for (long i = 0; i < p->samples; ++i) data[i] = conjugate(data[i]) * scale;
    }
}

static complex_t sample(long i) {
    return (complex_t){rng_unit(1, (uint64_t)i) - 0.5, rng_unit(2, (uint64_t)i) - 0.5};
}

int main(int argc, char** argv) {
    const int log2_samples = (int)arg_long(argc, argv, 1, "LOG2_SAMPLES", 6, 30) & ~1;
    const long rounds = arg_long(argc, argv, 2, "ROUNDS", 1, 100000);
    const struct plan p = make_plan(log2_samples);
    const size_t bytes = (size_t)p.samples * sizeof(complex_t);
    complex_t *data = pages_for(bytes), *scratch = pages_for(bytes);
    /* As the rows are shared out later, so that every thread's rows lie on its node. */
#pragma omp parallel for schedule(static)
    for (long i = 0; i < p.samples; ++i) {
        data[i] = sample(i);
        scratch[i] = (complex_t){0.0, 0.0};
    }

    long delayed = 0;
    roi_begin();
    for (long r = 0; r < rounds; ++r) {
        const long delay = (long)rng_below(3, (uint64_t)r, (uint32_t)p.samples);
        delay_signal(&p, data, scratch, delay);
        delayed = (delayed + delay) % p.samples;
        heartbeat();
    }
    roi_end();

    double worst = 0.0;
#pragma omp parallel for schedule(static) reduction(max : worst)
    for (long i = 0; i < p.samples; ++i) {
        const complex_t off = data[(i + delayed) % p.samples] - sample(i);
        worst = fmax(worst, fmax(fabs(off[0]), fabs(off[1])));
    }
    if (!(worst < 1e-9)) {
        printf("wrong: a sample is off by %.3g after a delay of %ld\n", worst, delayed);
        return 1;
    }
    printf("ok samples %ld delayed %ld\n", p.samples, delayed);
    return 0;
}
