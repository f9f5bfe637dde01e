"""Mutexes under capture: their order is kept where it matters, and free elsewhere."""

import pytest
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


ROBUST = r"""
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m;
static _Alignas(64) long x;
static void* owner(void* p) { pthread_mutex_lock(&m); x++; return p; }
int main(int count, char** arguments) {
    pthread_mutexattr_t a;
    pthread_t t;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&m, &a);
    for (int i = 0; i < 3; i++) {
        pthread_create(&t, 0, owner, 0);
        if (count > 1) {
            while (!__atomic_load_n(&x, __ATOMIC_ACQUIRE)) {}
        } else {
            pthread_join(t, 0);
        }
        int error = pthread_mutex_lock(&m);
        if (error == EOWNERDEAD) pthread_mutex_consistent(&m);
        else if (count == 1) return 1;
        x = 0;
        pthread_mutex_unlock(&m);
        if (count > 1) pthread_join(t, 0);
    }
}
"""


def test_a_robust_mutex_whose_owner_has_died_is_taken_after_its_end(shop: Workshop) -> None:
    run = shop.run(ROBUST, replays=10)
    assert run.code == 0, run.stderr
    assert run.kinds(0)["lock"] == run.kinds(0)["unlock"] == 3
    for stream in (1, 2, 3):
        assert run.kinds(stream)["lock"] == 1
        assert run.kinds(stream)["unlock"] == 1
        left = run.values(stream, "post")[0]  # before that of its end
        assert left in run.values(0, "await")


def test_a_robust_mutex_whose_owner_dies_while_another_waits_for_it_is_taken_then(
    shop: Workshop,
) -> None:
    run = shop.run(ROBUST, "waits", replays=10)
    assert run.code == 0, run.stderr
    assert run.kinds(0)["lock"] == 3


HANDED_OVER = r"""
#include <pthread.h>
#include <semaphore.h>
static LOCK_TYPE m;
static _Alignas(64) long x;
static void* other(void* p) {
    for (int i = 0; i < 30; i++) {
        TAKE(&m);
        x++;
    }
    return p;
}
int main(void) {
    pthread_t t;
    INIT(&m);
    TAKE(&m);
    pthread_create(&t, 0, other, 0);
    for (int i = 0; i < 30; i++) {
        while (__atomic_load_n(&x, __ATOMIC_ACQUIRE) != i) {}
        RELEASE(&m);
    }
    pthread_join(t, 0);
    return x != 30;
}
"""
KINDS_OF_LOCKS = {
    "mutex": ("pthread_mutex_t", "pthread_mutex_init(P, 0)", "pthread_mutex_lock(P)",
              "pthread_mutex_unlock(P)"),
    "spin": ("pthread_spinlock_t", "pthread_spin_init(P, 0)", "pthread_spin_lock(P)",
             "pthread_spin_unlock(P)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS_OF_LOCKS)
def test_a_lock_that_another_thread_unlocks_passes_on_like_a_semaphore(
    shop: Workshop, kind: str
) -> None:
    type_, init, take, release = KINDS_OF_LOCKS[kind]
    source = HANDED_OVER.replace("LOCK_TYPE", type_)
    macros = {"INIT": init, "TAKE": take, "RELEASE": release}
    for name, call in macros.items():
        source = f"#define {name}(P) {call}\n{source}"
    run = shop.run(source, replays=10)
    assert run.code == 0, run.stderr
    released = set(run.values(0, "post")[1:])  # the first is the creation
    assert len(released & set(run.values(1, "await"))) >= 29  # the first may wait for nobody


REFUSED = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void) {
    struct timespec none = {0, -1};
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        if (pthread_cond_timedwait(&c, &m, &none) != EINVAL) return 1;
        pthread_mutex_unlock(&m);
    }
    return 0;
}
"""


def test_a_wait_that_is_refused_leaves_the_mutex_held(shop: Workshop) -> None:
    run = shop.run(REFUSED)
    assert run.code == 0
    kinds = run.kinds(0)
    assert kinds["lock"] == kinds["unlock"]
