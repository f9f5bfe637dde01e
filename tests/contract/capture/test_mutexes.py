"""Mutexes under capture: their order is kept where it matters, and free elsewhere."""

from workshop import Captured, Workshop

MUTEX = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) long shared[8];
static _Alignas(64) long own[8][8];
static int dependent;
static void* work(void* p) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&m);
        if (dependent) shared[0]++; else own[(long)p][0]++;
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(int c, char** v) {
    dependent = atoi(v[1]);
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(t + i, 0, work, (void*)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    printf("shared %p %ld\n", shared, shared[0]);
}
"""


def after_locks(run: Captured, stream: int) -> list[str]:
    names = [kind for kind, _, _ in run.events(stream, "lock", "await", "access", "unlock", "post")]
    return [names[i + 1] for i, name in enumerate(names) if name == "lock"]


def test_lock_order_is_kept_where_a_section_reads_what_another_wrote(shop: Workshop) -> None:
    run = shop.run(MUTEX, "1")
    objects = set()
    for stream in (1, 2, 3):
        kinds = run.kinds(stream)
        assert kinds["lock"] == kinds["unlock"] == 100
        assert run.counts(stream, run.address("shared"), 8) == (100, 100)
        objects |= {value for _, value, _ in run.events(stream, "lock", "unlock")}
    assert len(objects) == 1
    # Every section that follows one of another thread awaits it.
    posts = {token: stream for stream in (1, 2, 3) for token in run.values(stream, "post")}
    for stream in (1, 2, 3):
        assert stream not in {posts.get(token) for token in run.values(stream, "await")}
    assert any("await" in after_locks(run, stream) for stream in (2, 3))


def test_lock_order_is_free_where_sections_touch_different_lines(shop: Workshop) -> None:
    run = shop.run(MUTEX, "0")
    for stream in (1, 2, 3):
        assert run.kinds(stream)["lock"] == 100
        assert "await" not in after_locks(run, stream)


NESTED = r"""
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) long x[8];
static void* work(void* p) {
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&a);
        pthread_mutex_lock(&b);
        x[0]++;
        pthread_mutex_unlock(&b);
        pthread_mutex_unlock(&a);
    }
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(t + i, 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
"""


def test_nested_locks_await_each_other_where_the_inner_section_reads(shop: Workshop) -> None:
    run = shop.run(NESTED, replays=25)
    for stream, other in ((1, 2), (2, 1)):
        outer, inner = run.values(stream, "lock")[:2]
        assert run.values(stream, "lock") == [outer, inner] * 200
        assert run.values(stream, "unlock") == [inner, outer] * 200
        of_locks = run.values(stream, "await")[1:]  # the first is the creation
        assert set(of_locks) <= set(run.values(other, "post"))
    assert any("await" in after_locks(run, stream) for stream in (1, 2))


FREE_OUTSIDE = r"""
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) long x;
static _Alignas(64) volatile long sink;
static void* reads(void* p) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&outer);
        pthread_mutex_lock(&inner); sink = x; pthread_mutex_unlock(&inner);
        pthread_mutex_unlock(&outer);
    }
    return 0;
}
static void* writes(void* p) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&inner); x = i; pthread_mutex_unlock(&inner);
    }
    return 0;
}
static void* passes(void* p) {
    for (int i = 0; i < 50; i++) { pthread_mutex_lock(&outer); pthread_mutex_unlock(&outer); }
    return 0;
}
int main(void) {
    pthread_t t[3];
    pthread_create(t, 0, reads, 0);
    pthread_create(t + 1, 0, writes, 0);
    pthread_create(t + 2, 0, passes, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
"""


def test_a_lock_outside_of_an_ordered_one_stays_free(shop: Workshop) -> None:
    run = shop.run(FREE_OUTSIDE, replays=25)
    assert run.kinds(3)["await"] == 1  # its creation


RECURSIVE = r"""
#include <pthread.h>
#include <stdio.h>
int main(void) {
    pthread_mutexattr_t a; pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_t m; pthread_mutex_init(&m, &a);
    for (int i = 0; i < 3; i++) pthread_mutex_lock(&m);
    printf("try %d\n", pthread_mutex_trylock(&m));
    for (int i = 0; i < 4; i++) pthread_mutex_unlock(&m);
}
"""


def test_a_recursive_mutex_is_one_lock(shop: Workshop) -> None:
    run = shop.run(RECURSIVE)
    assert run.stdout == "try 0\n"
    assert [kind for kind, _, _ in run.events(0, "lock", "unlock")] == ["lock", "unlock"]
