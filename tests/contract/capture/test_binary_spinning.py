"""Loops of a binary that wait by looking at one address are waits; such that only load are work."""

from pathlib import Path

import pytest
from abstract_replay import replay
from captured_binary import MARKED, capture, captured, needs_qemu

FLAG = r"""
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static _Alignas(64) volatile int ready;
static void* consumer(void* p) {
    while (!ready) { BETWEEN }
    return 0;
}
int main(void) {
    pthread_t t; pthread_create(&t, 0, consumer, 0);
    clockid_t clock; pthread_getcpuclockid(t, &clock);
    struct timespec spun = {0, 0};  // of its time on a CPU, whenever it gets one
    while (!spun.tv_sec && spun.tv_nsec < 200000000) { usleep(1000); clock_gettime(clock, &spun); }
    ready = 1;
    pthread_join(t, 0);
}
"""


@needs_qemu
@pytest.mark.parametrize("between", ["", "__sync_synchronize();"], ids=["nothing", "a fence"])
def test_polling_a_flag_awaits_the_store_that_raises_it_and_takes_no_instructions(
    tmp_path: Path, between: str
) -> None:
    meta = capture(tmp_path, FLAG.replace("BETWEEN", between), "-O1 -pthread")
    run = captured(meta)
    replay(run.trace, 3)
    assert run.summary["spins"] > 100
    assert meta.streams[1].roi_instructions < 2000
    raised = run.values(0, "post")[1]  # after the creation
    assert run.values(1, "await").count(raised) == 1


LOCK = r"""
#include <pthread.h>
static _Alignas(64) volatile int lock;
static _Alignas(64) volatile long counter;
static void* work(void* p) {
    for (int i = 0; i < 30; i++) {
        while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
            while (lock) __builtin_ia32_pause();
        for (int k = 0; k < 2000; k++) counter++;
        __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    }
    return 0;
}
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return counter != 180000;
}
"""


@needs_qemu
def test_spin_locks_of_a_binary_replay_and_their_polls_are_no_work(tmp_path: Path) -> None:
    meta = capture(tmp_path, LOCK, "-O1 -pthread")
    replay(captured(meta).trace, 3)
    # A round of the counter is four instructions or five; polls come on top where they are few.
    for stream in meta.streams[1:]:
        assert 4 * 60_000 < stream.roi_instructions < 1.5 * 5 * 60_000


CONSTANT = """
    __asm__ volatile("mov $30000, %%ecx\\n1: mov (%0), %%rax\\n dec %%ecx\\n jnz 1b"
                     :: "r"(a) : "rax", "rcx", "memory");
    a[9] = 1;
"""
WITH_A_THREAD = MARKED.replace(
    "int main(void) {",
    """#include <pthread.h>
static void* nothing(void* p) { return p; }
int main(void) {
    pthread_t t; pthread_create(&t, 0, nothing, 0); pthread_join(t, 0);""",
)


@needs_qemu
def test_a_loop_over_a_constant_in_memory_stays_work(tmp_path: Path) -> None:
    base, done = (
        capture(tmp_path, WITH_A_THREAD.replace("BODY", body), "-O1 -pthread", roi="marks").streams[
            0
        ]
        for body in ("", CONSTANT)
    )
    assert 0 <= done.roi_accesses - base.roi_accesses - 30_000 <= 8
    assert 0 <= done.roi_instructions - base.roi_instructions - 90_001 <= 8
