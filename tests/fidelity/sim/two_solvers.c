/* Two kernels over static arrays, PASSES times: what a pass misses is known to any cache simulator.
 *
 * usage: two_solvers PASSES
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 56, LINES = 1024 };

static double a[N][N] __attribute__((aligned(4096)));
static double b[N][N] __attribute__((aligned(4096)));
static long chain[LINES][8] __attribute__((aligned(4096)));

/* A five-point stencil, rows first. */
static void smooth(double (*to)[N], double (*from)[N]) {
    for (int i = 1; i < N - 1; ++i)
        for (int j = 1; j < N - 1; ++j)
            to[i][j] =
                (from[i][j] + from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]) /
                5;
}

/* A walk through all lines in a scattered order; every fourth one is written. */
static long walk(void) {
    long at = 0, sum = 0;
    for (int i = 0; i < LINES; ++i) {
        sum += chain[at][0];
        if (i % 4 == 0) chain[at][1] = sum;
        at = (at * 229 + 1) % LINES;
    }
    return sum;
}

int main(int argc, char** argv) {
    const int passes = argc > 1 ? atoi(argv[1]) : 1;
    long sum = 0;
    a[N / 2][N / 2] = 1;
    for (int pass = 0; pass < passes; ++pass) {
        smooth(b, a);
        smooth(a, b);
        sum += walk();
    }
    printf("%ld %g\n", sum, a[N / 2][N / 2]);
    return 0;
}
