"""Atomics under capture: who sees a write that releases comes after it; spinning is waiting."""

from workshop import Workshop

FLAG = r"""
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static _Alignas(64) atomic_int flag;
static _Alignas(64) long payload;
static void* work(void* p) {
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {}
    return (void*)payload;
}
int main(void) {
    pthread_t t; pthread_create(&t, 0, work, 0);
    clockid_t clock; pthread_getcpuclockid(t, &clock);
    struct timespec spun = {0, 0};
    while (!spun.tv_sec && spun.tv_nsec < 20000000) { usleep(1000); clock_gettime(clock, &spun); }
    payload = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    void* r; pthread_join(t, &r);
    printf("flag %p %ld\n", &flag, (long)r);
}
"""


def test_a_spin_loop_is_one_await_of_the_write_that_ends_it(shop: Workshop) -> None:
    run = shop.run(FLAG)
    assert run.stdout.endswith("42\n")
    polls, _ = run.counts(1, run.address("flag"), 4)
    assert 2 <= polls <= 6
    flag = run.values(0, "post")[1]  # after the creation
    assert run.values(1, "await").count(flag) == 1
    assert run.summary["spins"] > 10


SPINLOCK = r"""
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
static std::atomic_flag lock = ATOMIC_FLAG_INIT;
static std::atomic<long> counter{0};
static long shared_value;
int main() {
    std::vector<std::thread> all;
    for (int k = 0; k < 4; k++)
        all.emplace_back([] {
            for (int i = 0; i < 500; i++) {
                while (lock.test_and_set(std::memory_order_acquire)) {}
                shared_value++;
                lock.clear(std::memory_order_release);
                counter.fetch_add(1, std::memory_order_relaxed);
            }
        });
    for (auto& t : all) t.join();
    std::printf("counter %p %ld %ld\n", (void*)&counter, shared_value, counter.load());
}
"""


def test_relaxed_counters_are_free_and_spin_locks_keep_their_order(shop: Workshop) -> None:
    run = shop.run(SPINLOCK, kind="cpp", flags="-O1 -std=c++17 -pthread")
    assert run.stdout.split()[2:] == ["2000", "2000"]
    for stream in (1, 2, 3, 4):
        # Atomics are never merged: 500 events, each a load and a store.
        events = run.raw(stream)
        atomics = events[(events["flags"] & 1) != 0]
        line = run.address("counter") >> 6
        counted = atomics[(atomics["value"] == line) & (atomics["reads"] == 1)]
        assert counted["writes"].sum() >= 500
        assert run.kinds(stream)["await"] < 502  # creation, and at most one for each lock taken
