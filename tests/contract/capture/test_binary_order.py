"""Unmodified binaries under QEMU: the order of threads is that of compiled programs."""

from collections import Counter
from pathlib import Path

import pytest
from abstract_replay import replay
from captured_binary import capture, captured, needs_qemu
from workshop import Captured, Workshop

THREADS = r"""
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t b;
static sem_t s;
static long total, part[3][4096];
static void* work(void* p) {
    long* mine = part[(long)p];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4096; i++) mine[i] += i;
        pthread_mutex_lock(&m); total += mine[7]; pthread_mutex_unlock(&m);
        pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw);
        pthread_barrier_wait(&b);
    }
    sem_post(&s);
    return 0;
}
int main(void) {
    pthread_t t[3];
    pthread_barrier_init(&b, 0, 3); sem_init(&s, 0, 0);
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 3; i++) sem_wait(&s);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    printf("total %p %p\n", (void*)&total, (void*)part);
    return total != 5 * 3 * 7 * 3;
}
"""


SHARED_LOOP = r"""
#include <stdio.h>
static double a[1 << 14];
int main(void) {
    double sum = 0;
    #pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum)
    for (int i = 0; i < 1 << 14; i++) { a[i] = i; sum += a[i]; }
    #pragma omp parallel
    #pragma omp single
    for (int i = 0; i < 8; i++)
        #pragma omp task
        a[i]++;
    return sum < 0;
}
"""


def synchronisation(run: Captured) -> Counter[str]:
    """How often each kind of event comes, but for accesses and awaits, which depend on the run."""
    counts = sum((run.kinds(stream) for stream in run.streams), Counter[str]())
    for kind in ("access", "compute", "await"):
        del counts[kind]
    return counts


@needs_qemu
@pytest.mark.parametrize(
    ("source", "flags"),
    [(THREADS, "-O1 -pthread"), (SHARED_LOOP, "-O1 -fopenmp")],
    ids=["pthreads", "openmp"],
)
def test_a_binary_synchronises_as_the_compiled_program_does(
    shop: Workshop, tmp_path: Path, source: str, flags: str
) -> None:
    environment = {"OMP_NUM_THREADS": "3", "AUTOFINITY_CAPTURE_ROI": "parallel"}
    compiled = shop.run(source, flags=flags, env=environment)
    assert compiled.code == 0
    binary = captured(capture(tmp_path, source, flags, threads=3))
    replay(binary.trace, 3)
    # Each join, or end of a team, may be the end of the region: as many in both.
    assert synchronisation(binary) == synchronisation(compiled)
