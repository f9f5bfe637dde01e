"""Read-write locks under capture: readers share, and order is kept where it matters."""

from workshop import Workshop

RWLOCK = r"""
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static long x;
static volatile long sink;
static void* reader(void* p) {
    for (int i = 0; i < 50; i++) { pthread_rwlock_rdlock(&l); sink = x; pthread_rwlock_unlock(&l); }
    return 0;
}
static void* writer(void* p) {
    for (int i = 0; i < 20; i++) { pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l); }
    return 0;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(t + i, 0, i < 2 ? reader : writer, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
"""


def test_readers_of_a_rwlock_share_it_and_come_after_the_writer_whose_value_they_read(
    shop: Workshop,
) -> None:
    run = shop.run(RWLOCK, replays=10)
    for stream, aux in ((1, 1), (2, 1), (3, 0), (4, 0)):
        rounds = 20 if stream > 2 else 50
        assert [a for _, _, a in run.events(stream, "lock")] == [aux] * rounds
        assert run.kinds(stream)["unlock"] == rounds
    # Writers read what they add to, too; a token is awaited only if another thread wrote.
    of_readers = {token for stream in (1, 2) for token in run.values(stream, "post")}
    for stream in (1, 2, 3, 4):
        assert not of_readers & set(run.values(stream, "await"))


FREE_READERS = r"""
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static _Alignas(64) long written;
static _Alignas(64) long table[8];
static volatile long sink;
static void* reader(void* p) {
    for (int i = 0; i < 50; i++) {
        pthread_rwlock_rdlock(&l); sink = table[0]; pthread_rwlock_unlock(&l);
    }
    return 0;
}
static void* writer(void* p) {
    for (int i = 0; i < 20; i++) {
        pthread_rwlock_wrlock(&l); written = i; pthread_rwlock_unlock(&l);
    }
    return 0;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(t + i, 0, i < 2 ? reader : writer, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
"""


def test_sections_of_a_rwlock_that_read_nothing_written_are_free(shop: Workshop) -> None:
    run = shop.run(FREE_READERS, replays=5)
    for stream in (1, 2, 3, 4):
        assert run.kinds(stream)["await"] == 1  # its creation


NESTED_RWLOCK = r"""
#include <pthread.h>
#include <semaphore.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static sem_t asked, answered;
static void* helper(void* p) {
    for (int i = 0; i < 20; i++) {
        sem_wait(&asked);
        pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l);
        sem_post(&answered);
    }
    return 0;
}
int main(void) {
    sem_init(&asked, 0, 0); sem_init(&answered, 0, 0);
    pthread_t t; pthread_create(&t, 0, helper, 0);
    for (int i = 0; i < 20; i++) {
        pthread_rwlock_rdlock(&l); sem_post(&asked); sem_wait(&answered); pthread_rwlock_unlock(&l);
        pthread_rwlock_wrlock(&l); pthread_rwlock_unlock(&l);
    }
    pthread_join(t, 0);
}
"""


def test_a_rwlock_that_is_held_across_a_wait_keeps_the_order_of_the_capture(
    shop: Workshop,
) -> None:
    run = shop.run(NESTED_RWLOCK, replays=5)
    assert [aux for _, _, aux in run.events(0, "lock")] == [1, 0] * 20
    *helper, end = run.values(1, "post")
    # In each round the answer, then the reader's unlock before the writer's lock.
    unlocks, answers = helper[::2], helper[1::2]
    rounds = [token for pair in zip(answers, unlocks, strict=True) for token in pair]
    assert run.values(0, "await") == [*rounds, end]


MANY = r"""
#include <pthread.h>
enum { READERS = 150 };
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static _Alignas(64) long x;
static volatile long sink;
static void* reader(void* p) {
    pthread_rwlock_rdlock(&l); sink = x; pthread_rwlock_unlock(&l);
    return p;
}
int main(void) {
    pthread_t t[READERS];
    for (int i = 0; i < READERS; i++) pthread_create(t + i, 0, reader, 0);
    for (int i = 0; i < READERS; i++) pthread_join(t[i], 0);
    for (int i = 0; i < 3; i++) {
        pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l);
    }
}
"""


def test_a_writer_after_more_readers_than_are_remembered_awaits_nothing_but_posts(
    shop: Workshop,
) -> None:
    run = shop.run(MANY)
    posts = {token for stream in run.streams for token in run.values(stream, "post")}
    assert set(run.values(0, "await")) <= posts
    assert run.kinds(0)["lock"] == run.kinds(0)["unlock"] == 3


HELD = r"""
#include <pthread.h>
enum { LOCKS = 40 };
static pthread_rwlock_t l[LOCKS];
static _Alignas(64) long x[LOCKS][8];
static void* work(void* p) {
    for (int r = 0; r < 5; r++) {
        for (int i = 0; i < LOCKS; i++) { pthread_rwlock_wrlock(l + i); x[i][0]++; }
        for (int i = 0; i < LOCKS; i++) pthread_rwlock_unlock(l + i);
    }
    return p;
}
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < LOCKS; i++) pthread_rwlock_init(l + i, 0);
    for (int i = 0; i < 3; i++) pthread_create(t + i, 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return x[0][0] != 15;
}
"""


def test_more_locks_than_a_thread_keeps_account_of_are_ordered_all_the_same(
    shop: Workshop,
) -> None:
    run = shop.run(HELD, replays=10)
    assert run.code == 0, run.stderr
    for stream in (1, 2, 3):
        kinds = run.kinds(stream)
        assert kinds["lock"] == kinds["unlock"] >= 5 * 16


HANDED_OVER = r"""
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static _Alignas(64) long turn, x;
static void* other(void* p) {
    for (int i = 0; i < 20; i++) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2 * i + 1) {}
        pthread_rwlock_unlock(&l);
        pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l);
        __atomic_store_n(&turn, 2 * i + 2, __ATOMIC_RELEASE);
    }
    return p;
}
static void* reader(void* p) {
    for (int i = 0; i < 20; i++) {
        pthread_rwlock_rdlock(&l);
        __atomic_store_n(&turn, 2 * i + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2 * i + 2) {}
    }
    return p;
}
int main(void) {
    pthread_t t[2];
    pthread_create(t, 0, other, 0);
    pthread_create(t + 1, 0, reader, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l);
    return x != 21;
}
"""


def test_a_read_lock_that_another_thread_unlocks_stops_no_writer(shop: Workshop) -> None:
    run = shop.run(HANDED_OVER, replays=10)
    assert run.code == 0, run.stderr
    assert run.kinds(1)["lock"] == run.kinds(1)["unlock"] == 20
