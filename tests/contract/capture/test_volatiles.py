"""Volatile flags order their threads, and polling one is waiting, not work."""

import pytest
from workshop import Workshop

HANDOVER = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static _Alignas(64) volatile TYPE ready;
static _Alignas(64) long payload;
static void* consumer(void* late) {
    if (late) usleep(100000);
    while (!ready) {}
    __asm__ volatile("" ::: "memory");
    return (void*)payload;
}
int main(int count, char** arguments) {
    const int late = count > 1;
    pthread_t t; pthread_create(&t, 0, consumer, late ? &ready : 0);
    clockid_t clock; pthread_getcpuclockid(t, &clock);
    struct timespec spun = {late, 0};  // it spins for 20 ms, when it gets a CPU
    while (!spun.tv_sec && spun.tv_nsec < 20000000) { usleep(1000); clock_gettime(clock, &spun); }
    payload = 42;
    __asm__ volatile("" ::: "memory");
    ready = 1;
    void* r; pthread_join(t, &r);
    printf("ready %p %ld\n", (void*)&ready, (long)r);
    return r != (void*)42;
}
"""


@pytest.mark.parametrize("type_", ["char", "short", "int", "long"])
def test_polling_a_volatile_flag_is_one_await_of_the_write_that_raises_it(
    shop: Workshop, type_: str
) -> None:
    run = shop.run(HANDOVER.replace("TYPE", type_))
    assert run.code == 0
    polls, _ = run.counts(1, run.address("ready"), 1)
    assert 2 <= polls <= 6
    raised = run.values(0, "post")[1]  # after the creation
    assert run.values(1, "await").count(raised) == 1
    assert run.summary["spins"] > 10


def test_a_volatile_flag_that_was_raised_before_is_awaited_all_the_same(shop: Workshop) -> None:
    run = shop.run(HANDOVER.replace("TYPE", "int"), "late")
    assert run.code == 0
    raised = run.values(0, "post")[1]
    assert run.values(1, "await").count(raised) == 1


TURNS = r"""
#include <pthread.h>
enum { ROUNDS = 40 };
static _Alignas(64) volatile int turn;
static void* work(void* p) {
    for (int i = 0; i < ROUNDS; i++) {
        while (turn % 3 != (int)(long)p) {}
        turn = turn + 1;
    }
    return 0;
}
int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return turn != 3 * ROUNDS;
}
"""


def test_threads_that_take_turns_by_a_volatile_await_every_turn(shop: Workshop) -> None:
    run = shop.run(TURNS)
    assert run.code == 0
    for stream in (1, 2, 3):
        assert run.kinds(stream)["post"] == 41  # each turn, and the end
        assert run.kinds(stream)["await"] >= 40


ALONE = r"""
static volatile long constant = 1;
int main(void) {
    long sum = 0;
    for (int i = 0; i < 100000; i++) sum += constant;
    return sum != 100000;
}
"""


def test_a_program_of_one_thread_waits_for_nobody(shop: Workshop) -> None:
    run = shop.run(ALONE, env={"AUTOFINITY_CAPTURE_ROI": "whole"})
    assert run.code == 0
    assert int(run.raw(0)["reads"].sum()) >= 100_000
    assert run.kinds(0)["post"] <= 1
