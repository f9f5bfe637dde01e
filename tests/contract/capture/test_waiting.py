"""Conditions, semaphores and barriers under capture."""

from workshop import Workshop

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
    for stream in (0, 1):
        kinds = run.kinds(stream)
        assert kinds["lock"] == kinds["unlock"] >= 50
        assert set(run.values(stream, "await")) <= set(run.values(1 - stream, "post"))
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
    posted = run.values(0, "post")[1:]  # the first is the creation
    taken = run.values(1, "await")[1:]
    assert taken == posted
    back = run.values(1, "post")
    freed = run.values(0, "await")
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
