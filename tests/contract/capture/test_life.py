"""Beginnings and ends: exits from anywhere, crashes, forks, detached and many threads."""

import sys

import pytest
from workshop import Workshop

from autofinity._core import trace as core
from autofinity.model.errors import TraceError

EXITS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static _Alignas(64) long a[512];
static const char* how;
static int ready[2];  // a pipe: no synchronisation that the runtime sees
static void say_ready(void) { if (write(ready[1], "", 1) != 1) abort(); }
static void await_ready(void) { char c; if (read(ready[0], &c, 1) != 1) abort(); }
static void touch(void) { for (int i = 0; i < 512; i++) a[i]++; }
static void at_end(void) { a[0] = 7; }
static void handler(int s) { touch(); }
static void* work(void* p) {
    touch();
    if (!strcmp(how, "thread-exit")) exit(3);
    if (!strcmp(how, "thread-_exit")) _exit(4);
    if (!strcmp(how, "pthread_exit")) pthread_exit(0);
    if (!strcmp(how, "crash")) *(volatile int*)16 = 1;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "main-pthread_exit")) usleep(30000);
    if (!strcmp(how, "cancel")) { say_ready(); for (;;) usleep(1000); }
    if (!strcmp(how, "blocked")) { say_ready(); for (;;) pause(); }
    if (!strcmp(how, "running")) { say_ready(); for (;;) touch(); }
    touch();
    if (!strcmp(how, "detached")) say_ready();
    return 0;
}
int main(int c, char** v) {
    how = v[1];
    printf("a %p\n", a); fflush(stdout);
    if (!strcmp(how, "atexit")) { atexit(at_end); return 0; }
    if (!strcmp(how, "signal")) {
        signal(SIGALRM, handler); ualarm(1000, 1000);
        for (int i = 0; i < 3000; i++) touch();
        ualarm(0, 0); return 0;
    }
    if (!strcmp(how, "fork")) {
        touch();
        if (fork() == 0) { touch(); exit(9); }
        int s; wait(&s); printf("child %d\n", WEXITSTATUS(s));
        return 0;
    }
    if (!strcmp(how, "exec")) { execl("/bin/sh", "sh", "-c", v[2], v[0], (char*)0); return 1; }
    pthread_t t;
    if (pipe(ready)) return 1;
    if (!strcmp(how, "many")) {
        for (int i = 0; i < 300; i++) { pthread_create(&t, 0, work, 0); pthread_join(t, 0); }
        return 0;
    }
    pthread_create(&t, 0, work, 0);
    if (!strcmp(how, "detached")) { pthread_detach(t); await_ready(); return 0; }
    if (!strcmp(how, "main-pthread_exit")) pthread_exit(0);
    if (!strcmp(how, "quick_exit")) { pthread_join(t, 0); quick_exit(6); }
    if (!strcmp(how, "cancel")) { await_ready(); pthread_cancel(t); }
    if (!strcmp(how, "blocked") || !strcmp(how, "running")) { await_ready(); return 5; }
    pthread_join(t, 0);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "code", "writes"),
    [
        ("return", 0, 1024),
        ("thread-exit", 3, 512),
        ("thread-_exit", 4, 512),
        ("pthread_exit", 0, 512),
        ("main-pthread_exit", 0, 1024),
        ("quick_exit", 6, 1024),
        ("detached", 0, 1024),
        ("cancel", 0, 512),
        ("blocked", 5, 512),
    ],
)
def test_whatever_way_a_program_ends_its_threads_are_kept(
    shop: Workshop, how: str, code: int, writes: int
) -> None:
    run = shop.run(EXITS, how)
    assert run.code == code
    assert run.counts(1, run.address("a"), 4096)[1] == writes
    for stream in (0, 1):
        kinds = run.kinds(stream)
        assert kinds["thread_begin"] == kinds["thread_end"] == 1


def test_a_thread_that_still_runs_at_exit_is_cut_off_in_the_middle(shop: Workshop) -> None:
    run = shop.run(EXITS, "running")
    assert run.code == 5
    assert run.counts(1, run.address("a"), 4096)[1] >= 512
    assert run.events(1, "thread_begin", "post", "thread_end") == [
        ("thread_begin", 1, 0),
        ("thread_end", 1, 0),
    ]


def test_exit_handlers_still_count(shop: Workshop) -> None:
    run = shop.run(EXITS, "atexit")
    assert run.counts(0, run.address("a"), 8) == (0, 1)


@pytest.mark.parametrize("how", ["crash", "abort"])
def test_a_program_that_crashes_leaves_no_trace_that_could_pass_for_whole(
    shop: Workshop, how: str
) -> None:
    run = shop.run(EXITS, how)
    assert run.code < 0
    with pytest.raises(TraceError, match="index"):
        core.read(str(run.folder))


def test_signal_handlers_may_run_program_code_at_any_time(shop: Workshop) -> None:
    run = shop.run(EXITS, "signal")
    assert run.code == 0
    writes = run.counts(0, run.address("a"), 4096)[1]
    assert writes >= 3000 * 512 - 100  # a handler that meets the recorder at work may lose some


def test_a_forked_child_runs_unrecorded(shop: Workshop) -> None:
    run = shop.run(EXITS, "fork")
    assert "child 9" in run.stdout
    assert run.trace.streams == 1
    assert run.counts(0, run.address("a"), 4096)[1] == 512


def test_a_program_started_by_the_captured_one_does_not_touch_its_trace(shop: Workshop) -> None:
    run = shop.run(EXITS, "exec", '"$0" return')
    assert run.code == 0
    assert not (run.folder / "index.aft").exists()  # the recorded one was replaced: no whole trace


BY_VFORK = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static _Alignas(64) volatile long a[512];
static void* work(void* p) { for (int i = 0; i < 512; i++) a[i]++; return 0; }
static int started(char* program) {
    char* words[] = {program, 0};
    const pid_t child = vfork();
    if (child == 0) {
        execv(program, words);
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
int main(void) {
    pthread_t t;
    printf("a %p\n", (void*)a); fflush(stdout);
    printf("%d\n", started("/nowhere/nothing")); fflush(stdout);
    printf("%d\n", started("/bin/true")); fflush(stdout);
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    return 3;
}
"""


def test_a_child_that_shares_the_memory_ends_by_itself(shop: Workshop) -> None:
    run = shop.run(BY_VFORK)
    assert run.code == 3
    assert run.stdout.split()[2:] == ["127", "0"]
    assert run.trace.streams == 2
    assert run.counts(1, run.address("a"), 4096) == (512, 512)


SMALL_STACK = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static _Alignas(64) volatile long a[1 << 14];
static void* work(void* p) {
    volatile char own[9000];  // more than half of the stack
    own[8999] = 1;
    for (int k = 0; k < 40; k++)
        for (int i = 0; i < 1 << 14; i += 3) a[(i * 5003) % (1 << 14)] += own[8999];
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_attr_t small;
    size_t size;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);  // PTHREAD_STACK_MIN
    if (pthread_create(&t, &small, work, 0)) return 1;
    pthread_join(t, 0);
    pthread_attr_getstacksize(&small, &size);
    printf("%zu\n", size);
    return 0;
}
"""


def test_a_thread_has_its_own_stack_and_room_for_the_recorder(shop: Workshop) -> None:
    run = shop.run(SMALL_STACK)
    assert (run.code, run.stdout) == (0, "16384\n")
    assert run.kinds(1)["thread_end"] == 1


LONG = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
    fputs("begun\n", stderr);
    sleep(atoi(argv[1]));
    puts("alone");
    return 0;
}
"""
KILLED = """
import os, signal, subprocess, sys
os.environ["AUTOFINITY_CAPTURE_RECORDER"] = f"{os.getpid():010d}"
program = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE)
program.stderr.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_program_ends_with_the_process_that_has_it_recorded(shop: Workshop) -> None:
    run = shop.run(LONG, "10", under=(sys.executable, "-c", KILLED), replays=0)
    assert (run.code, run.stdout) == (-9, "")


def test_a_program_of_a_script_may_outlive_the_script(shop: Workshop) -> None:
    by_shell = ("sh", "-c", '"$0" "$@" & wait')
    run = shop.run(LONG, "1", under=(sys.executable, "-c", KILLED, *by_shell), replays=0)
    assert (run.code, run.stdout) == (-9, "alone\n")


def test_thread_ids_are_reused_and_streams_are_not(shop: Workshop) -> None:
    run = shop.run(EXITS, "many", replays=1)
    assert len(run.streams) == 301
    assert run.counts(300, run.address("a"), 4096) == (1024, 1024)
    assert len(set(run.values(0, "await"))) == 300


def test_without_a_folder_the_runtime_only_lets_the_program_run(shop: Workshop) -> None:
    run = shop.run(EXITS, "return", env={"AUTOFINITY_CAPTURE_DIR": ""})
    assert run.code == 0
    assert list(run.folder.iterdir()) == []


ATTEMPTS = r"""
#include <pthread.h>
#include <semaphore.h>
int main(void) {
    sem_t s; sem_init(&s, 0, 1);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t read = PTHREAD_RWLOCK_INITIALIZER, written = PTHREAD_RWLOCK_INITIALIZER;
    pthread_spinlock_t spin; pthread_spin_init(&spin, 0);
    return (sem_trywait(&s) != 0) + 2 * (pthread_mutex_trylock(&m) != 0)
         + 4 * (pthread_rwlock_tryrdlock(&read) != 0)
         + 8 * (pthread_rwlock_trywrlock(&written) != 0)
         + 16 * (pthread_spin_trylock(&spin) != 0);
}
"""


def test_attempts_on_free_locks_succeed_where_nothing_is_recorded(shop: Workshop) -> None:
    assert shop.run(ATTEMPTS, env={"AUTOFINITY_CAPTURE_DIR": ""}).code == 0


def test_a_folder_that_cannot_be_written_is_said_and_the_program_goes_on(shop: Workshop) -> None:
    run = shop.run(EXITS, "return", env={"AUTOFINITY_CAPTURE_DIR": "/proc/nowhere"})
    assert run.code == 0
    assert "autofinity capture: cannot open /proc/nowhere/owner" in run.stderr


def test_a_full_disk_is_said_and_leaves_no_index(shop: Workshop) -> None:
    # A limit on file size stands for a full disk: the writes fail in the same place.
    source = r"""
    #include <signal.h>
    #include <stdlib.h>
    #include <sys/resource.h>
    static volatile long a[1 << 20];
    int main(void) {
        struct rlimit r = {4096, 4096};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &r);
        unsigned x = 1;
        for (int i = 0; i < 2000000; i++) a[(x = x * 1664525 + 1013904223) >> 12]++;
        return 0;
    }
    """
    run = shop.run(source)
    assert run.code == 0
    assert "autofinity capture: cannot write" in run.stderr
    assert not (run.folder / "index.aft").exists()
