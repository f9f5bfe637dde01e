"""POSIX threads under capture: the streams say what the program did, no more and no less."""

from __future__ import annotations

import pytest

from .captured import Captured, Workshop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("threads"))


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
        assert reads == 512 + size // 16  # the copy reads 16 bytes at a time
        assert run.counts(k + 1, run.address("copy") + k * size, size) == (0, size // 16)
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
    posts = {value: stream for stream in (1, 2, 3) for kind, value, _ in run.events(stream, "post")}
    for stream in (1, 2, 3):
        tokens = [v for _, v, _ in run.events(stream, "await") if v in posts]
        assert all(posts[token] != stream for token in tokens)
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


def test_nested_locks_whose_inner_one_is_ordered_do_not_deadlock_in_replay(shop: Workshop) -> None:
    assert shop.run(NESTED, replays=25).code == 0


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


CONDITION = r"""
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static int box, have;
static long sum;
static void* consumer(void* p) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&m);
        while (!have) pthread_cond_wait(&full, &m);
        sum += box; have = 0;
        pthread_cond_signal(&empty);
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void) {
    pthread_t t; pthread_create(&t, 0, consumer, 0);
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&m);
        while (have) pthread_cond_wait(&empty, &m);
        box = i; have = 1;
        pthread_cond_signal(&full);
        pthread_mutex_unlock(&m);
    }
    pthread_join(t, 0);
    printf("%ld\n", sum);
}
"""


def test_a_condition_wait_leaves_the_mutex_and_awaits_a_signal(shop: Workshop) -> None:
    run = shop.run(CONDITION, replays=10)
    assert run.stdout == "1225\n"
    posts = {s: {v for _, v, _ in run.events(s, "post")} for s in (0, 1)}
    for stream in (0, 1):
        kinds = run.kinds(stream)
        assert kinds["lock"] == kinds["unlock"] >= 50
        awaited = [v for _, v, _ in run.events(stream, "await")]
        assert set(awaited) <= posts[1 - stream]
    # In turns: each of the 50 handovers is ordered in both directions.
    assert sum(run.kinds(s)["await"] for s in (0, 1)) >= 99


SEMAPHORE = r"""
#include <pthread.h>
#include <semaphore.h>
static sem_t items, room;
static void* consumer(void* p) {
    for (int i = 0; i < 300; i++) { sem_wait(&items); sem_post(&room); }
    return 0;
}
int main(void) {
    sem_init(&items, 0, 0); sem_init(&room, 0, 10);
    pthread_t t; pthread_create(&t, 0, consumer, 0);
    for (int i = 0; i < 300; i++) { sem_wait(&room); sem_post(&items); }
    pthread_join(t, 0);
}
"""


def test_each_semaphore_wait_awaits_the_post_it_took(shop: Workshop) -> None:
    run = shop.run(SEMAPHORE, replays=5)
    posted = [v for _, v, _ in run.events(0, "post")][1:]  # the first is the creation
    taken = [v for _, v, _ in run.events(1, "await")][1:]
    assert taken == posted
    back = [v for _, v, _ in run.events(1, "post")]
    freed = [v for _, v, _ in run.events(0, "await")]
    assert freed[:-1] == back[:290]  # ten were free from the start; the last await is the join


BARRIER = r"""
#include <pthread.h>
static pthread_barrier_t b;
static void* work(void* p) { for (int i = 0; i < 7; i++) pthread_barrier_wait(&b); return 0; }
int main(void) {
    pthread_barrier_init(&b, 0, 4);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(t + i, 0, work, 0);
    work(0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
"""


def test_a_barrier_is_one_event_of_each_participant_and_generation(shop: Workshop) -> None:
    run = shop.run(BARRIER)
    arrivals = [run.events(stream, "barrier") for stream in range(4)]
    assert all(len(a) == 7 for a in arrivals)
    assert {(value, aux) for a in arrivals for _, value, aux in a} == {(arrivals[0][0][1], 4)}


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
    awaited = {v for s in (1, 2, 3, 4) for _, v, _ in run.events(s, "await")}
    of_readers = {v for s in (1, 2) for _, v, _ in run.events(s, "post")}
    assert not awaited & of_readers


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


def test_who_waits_while_it_holds_a_rwlock_is_not_deadlocked(shop: Workshop) -> None:
    run = shop.run(NESTED_RWLOCK, replays=5)
    assert run.kinds(0)["lock"] == 40


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
    flag = run.events(0, "post")[1][1]  # after the creation
    assert [v for _, v, _ in run.events(1, "await")].count(flag) == 1
    from autofinity._core import trace

    assert trace.summary(str(run.folder))["spins"] > 10


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
        events = run.trace.events(stream)
        atomics = events[(events["flags"] & 1) != 0]
        line = run.address("counter") >> 6
        counted = atomics[(atomics["value"] == line) & (atomics["reads"] == 1)]
        assert counted["writes"].sum() >= 500
        assert run.kinds(stream)["await"] < 502  # creation, and at most one for each lock taken


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


def test_threads_that_fetch_work_get_fair_shares(shop: Workshop) -> None:
    from autofinity._core import trace

    run = shop.run(FAIR)
    shares = [s["accesses"] for s in trace.summary(str(run.folder))["streams"][1:]]
    assert sum(shares) > 1_000_000
    # 50,000 ahead of the slowest, as much again for who just came back from waiting, and what is
    # done between two looks around.
    assert max(shares) - min(shares) < 2 * 50_000 + 4 * 4096


CHASE = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node* next; long pad[15]; };
int main(void) {
    struct node* n = aligned_alloc(128, 1000 * sizeof *n);
    for (int i = 0; i < 1000; i++) n[i].next = &n[(i * 7 + 1) % 1000];
    long hops = 0, sum = 0;
    for (struct node* p = n; hops < 900; p = p->next) hops++, sum += p - n;
    printf("list %p %ld\n", n, sum);
}
"""


def test_loads_whose_value_is_the_next_address_are_marked(shop: Workshop) -> None:
    run = shop.run(CHASE, flags="-O2 -pthread")
    events = run.trace.events(0)
    low = run.address("list") >> 6
    chased = events[
        (events["kind"] == 0) & (events["value"] >= low) & (events["value"] < low + 2000)
        & (events["reads"] > 0)
    ]  # fmt: skip
    assert (chased["flags"] & 4 != 0).mean() > 0.95


STRINGS = r"""
#include <stdio.h>
#include <string.h>
static _Alignas(64) char a[1024], b[1024];
int main(void) {
    memset(a, 'x', 1000);
    strcpy(b, a);
    size_t n = strlen(b);
    int same = strcmp(a, b) == 0 && memcmp(a, b, n) == 0 && memchr(a, 0, 1024) == a + 1000;
    memmove(a, a + 1, 500);
    printf("a %p b %p %zu %d %p\n", a, b, n, same, (void*)strchr(b, 'y'));
}
"""


def test_memory_and_string_functions_are_seen(shop: Workshop) -> None:
    run = shop.run(STRINGS, flags="-O0 -fno-builtin -pthread")
    assert run.stdout.split()[4:] == ["1000", "1", "(nil)"]
    reads, writes = run.counts(0, run.address("b"), 1024)
    assert writes == 63  # 1001 bytes, 16 at a time
    assert reads == 3 * 63 + 63  # strlen, strcmp and strchr with the zero; memcmp without
    _, writes = run.counts(0, run.address("a"), 1024)
    # The copy goes by the lines of its source, which are one byte off those of its target.
    assert 63 + 32 <= writes <= 63 + 40


TRANSFERS = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static _Alignas(64) char sent[4096], got[4096], parts[2][1024], file[1024];
int main(void) {
    int ends[2];
    pipe(ends);
    write(ends[1], sent, 3200);
    read(ends[0], got, 4096);  // less than was asked for: 3200 bytes come
    if (read(-1, got, 4096) != -1) return 1;
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    send(ends[1], sent, 1600, 0);
    struct iovec v[2] = {{parts[0], 1024}, {parts[1], 1024}};
    readv(ends[0], v, 2);
    FILE* f = tmpfile();
    fwrite(sent, 8, 80, f);
    rewind(f);
    fread(file, 1, 1024, f);
    printf("sent %p got %p parts %p file %p\n", sent, got, parts, file);
}
"""


def test_what_the_kernel_and_streams_transfer_is_seen(shop: Workshop) -> None:
    run = shop.run(TRANSFERS)
    assert run.code == 0
    width = 16
    assert run.counts(0, run.address("sent"), 4096) == ((3200 + 1600 + 640) // width, 0)
    assert run.counts(0, run.address("got"), 4096) == (0, 3200 // width)
    assert run.counts(0, run.address("parts"), 2048) == (0, 1600 // width)
    assert run.counts(0, run.address("file"), 1024) == (0, 640 // width)
