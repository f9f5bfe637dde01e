"""Signal handlers that come at any time: while the recorder holds a lock, or on a small stack."""

import pytest
from workshop import Workshop

from autofinity._core import trace as core
from autofinity.model.errors import TraceError

# A timer's handler does to the same objects what the threads do all the time.
HANDLED = r"""
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
static _Atomic long both, by_handler;
static _Atomic char byte;
static _Atomic(struct pair { long low, high; }) pair;
static volatile long seen;
static sem_t units;
static long taken;
static const char* how;
static void handler(int number) {
    if (!strcmp(how, "atomics")) {
        atomic_fetch_add(&both, 1);
        atomic_fetch_add(&by_handler, 1);
        atomic_exchange(&byte, 1);
    }
    if (!strcmp(how, "volatiles")) seen = seen + 1;
    if (!strcmp(how, "semaphores")) sem_post(&units);
}
static void* work(void* p) {
    if (!strcmp(how, "atomics"))
        for (int i = 0; i < 400000; i++) {
            atomic_fetch_add(&both, 1);
            atomic_exchange(&byte, 2);
        }
    if (!strcmp(how, "volatiles"))
        for (int i = 0; i < 600000; i++) seen = i;
    if (!strcmp(how, "semaphores"))
        for (int i = 0; i < 60000; i++) {
            sem_post(&units);
            while (sem_wait(&units)) {}
            if (p != 0) taken++;
        }
    return 0;
}
int main(int n, char** words) {
    how = words[1];
    sem_init(&units, 0, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, 0);
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, 0);
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    setitimer(ITIMER_REAL, &never, 0);
    printf("%ld %ld\n", both - by_handler, taken);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "stdout"),
    [("atomics", "800000 0\n"), ("volatiles", "0 0\n"), ("semaphores", "0 60000\n")],
)
def test_a_handler_does_not_wait_for_a_lock_of_its_own_thread(
    shop: Workshop, how: str, stdout: str
) -> None:
    run = shop.run(HANDLED, how, replays=1)
    assert (run.code, run.stdout) == (0, stdout)
    assert len(run.streams) == 3


ON_ITS_OWN_STACK = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { SIZE = 8192, GUARD = 8192 };  // SIGSTKSZ
static volatile long a[1 << 13];
static void handler(int number) { for (int i = 0; i < 1 << 13; i++) a[i * 5003 % (1 << 13)]++; }
static void* work(void* p) {
    char* const memory = malloc(GUARD + SIZE);
    for (int i = 0; i < GUARD; i++) ((volatile char*)memory)[i] = 7;
    stack_t own = {.ss_sp = memory + GUARD, .ss_size = SIZE};
    if (sigaltstack(&own, 0)) return p;
    for (int i = 0; i < 200; i++) raise(SIGUSR1);
    long changed = 0;
    for (int i = 0; i < GUARD; i++) changed += memory[i] != 7;
    return (void*)changed;
}
int main(void) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    pthread_t t;
    void* changed = &t;
    pthread_create(&t, 0, work, &t);
    pthread_join(t, &changed);
    printf("%ld\n", (long)changed);
    return 0;
}
"""


def test_a_handler_on_a_stack_of_the_usual_size_stays_within_it(shop: Workshop) -> None:
    run = shop.run(ON_ITS_OWN_STACK)
    assert (run.code, run.stdout) == (0, "0\n")


LEFT = r"""
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
static sigjmp_buf back;
static atomic_long work;
static void handler(int number) { siglongjmp(back, 1); }
static void* other(void* p) { atomic_fetch_add(&work, 1); return 0; }
int main(void) {
    signal(SIGALRM, handler);
    for (volatile int i = 0; i < 100; i++) {
        if (sigsetjmp(back, 1)) continue;
        const struct itimerval once = {{0, 0}, {0, 1000}};
        setitimer(ITIMER_REAL, &once, 0);
        for (;;) atomic_fetch_add(&work, 1);
    }
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    pthread_join(t, 0);
    puts("joined");
    return 0;
}
"""


def test_a_handler_that_leaves_the_recorder_in_the_middle_is_said(shop: Workshop) -> None:
    run = shop.run(LEFT)
    assert (run.code, run.stdout) == (0, "joined\n")
    assert "a signal handler left the recorder in the middle by longjmp" in run.stderr
    with pytest.raises(TraceError, match="index"):
        core.read(str(run.folder))
