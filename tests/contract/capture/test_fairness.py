"""Threads of a capture get on side by side, however the host runs them."""

from workshop import Workshop

FAIR = r"""
#include <pthread.h>
#include <stdatomic.h>
static atomic_long next;
static _Alignas(64) double a[1 << 17];
static void* work(void* p) {
    for (long i; (i = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)) < 1024;)
        for (int r = 0; r < 4; r++)
            for (long k = i * 128; k < (i + 1) * 128; k++) a[k] += 1;
    return 0;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(t + i, 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
"""


# 50,000 ahead of the slowest, as much again for who just came back from waiting, and what is done
# between two looks around.
APART = 2 * 50_000 + 4 * 4096


def test_threads_that_fetch_work_get_fair_shares(shop: Workshop) -> None:
    shares = [stream["accesses"] for stream in shop.run(FAIR).summary["streams"][1:]]
    assert sum(shares) > 1_000_000
    assert max(shares) - min(shares) < APART


DYNAMIC = r"""
static _Alignas(64) double a[1 << 16];
int main(void) {
    #pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < 1 << 16; i++)
        for (int r = 0; r < 8; r++) {
            a[i] += r;
            __asm__ volatile("" ::: "memory");
        }
}
"""


def test_a_dynamic_loop_gives_threads_fair_shares(shop: Workshop) -> None:
    done = shop.openmp(DYNAMIC)
    shares = [len(done.events(stream, "unit_begin")) for stream in done.streams]
    per_unit = 64 * 8 * 2
    assert sum(shares) == 1024
    assert sum(stream["accesses"] for stream in done.summary["streams"]) > 1024 * per_unit
    assert max(shares) - min(shares) <= APART / per_unit + 1
