"""Threads under capture: their streams say what each did, and who made and joined whom."""

from workshop import Workshop

PRIVATE = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#define N 4
static _Alignas(64) long data[N][512], copy[N][512];
static void* work(void* p) {
    long k = (long)p;
    for (int i = 0; i < 512; i++) data[k][i] = i;
    long s = 0;
    for (int i = 0; i < 512; i++) s += data[k][i];
    memcpy(copy[k], data[k], sizeof data[k]);
    return (void*)s;
}
int main(void) {
    pthread_t t[N];
    for (long i = 0; i < N; i++) pthread_create(t + i, 0, work, (void*)i);
    for (int i = 0; i < N; i++) pthread_join(t[i], 0);
    printf("data %p copy %p\n", data, copy);
}
"""


def test_every_load_and_store_of_each_thread_is_counted_on_its_lines(shop: Workshop) -> None:
    run = shop.run(PRIVATE)
    assert run.code == 0
    assert run.trace.streams == 5
    size = 512 * 8
    for k in range(4):
        reads, writes = run.counts(k + 1, run.address("data") + k * size, size)
        assert writes == 512
        assert reads == 512 + size // 32  # the copy reads 32 bytes at a time
        assert run.counts(k + 1, run.address("copy") + k * size, size) == (0, size // 32)
        for other in {1, 2, 3, 4} - {k + 1}:
            assert run.counts(other, run.address("data") + k * size, size) == (0, 0)


def test_create_and_join_are_edges_between_the_right_threads(shop: Workshop) -> None:
    run = shop.run(PRIVATE)
    main = run.events(0, "thread_begin", "thread_end", "post", "await")
    assert main[0][0] == "thread_begin"
    assert main[-1][0] == "thread_end"
    posts = [value for kind, value, _ in main if kind == "post"]
    awaits = [value for kind, value, _ in main if kind == "await"]
    for k in range(4):
        own = run.events(k + 1, "thread_begin", "thread_end", "post", "await")
        assert [kind for kind, _, _ in own] == ["thread_begin", "await", "post", "thread_end"]
        assert own[1][1] == posts[k]
        assert own[2][1] == awaits[k]
        assert run.trace.parent(k + 1) == 0


ONCE = r"""
#include <pthread.h>
static pthread_once_t control = PTHREAD_ONCE_INIT;
static void routine(void) {}
static void* work(void* p) {
    for (int i = 0; i < 3; i++) pthread_once(&control, routine);
    return p;
}
int main(void) {
    pthread_t t[2];
    work(0);
    for (int i = 0; i < 2; i++) pthread_create(t + i, 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
"""


def test_who_comes_after_a_routine_that_runs_once_awaits_it_once(shop: Workshop) -> None:
    run = shop.run(ONCE)
    done, *_ = run.values(0, "post")
    for stream in (1, 2):
        assert run.values(stream, "await")[1:] == [done]  # after the creation
