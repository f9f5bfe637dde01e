"""Beginnings and ends: exits from anywhere, crashes, forks, detached and many threads, ROI."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from autofinity._core import trace as core
from autofinity.model.errors import TraceError

from .captured import Workshop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("life"))


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


def test_a_thread_that_still_runs_at_exit_is_cut_off_and_harms_nothing(shop: Workshop) -> None:
    run = shop.run(EXITS, "running")
    assert run.code == 5
    assert run.counts(1, run.address("a"), 4096)[1] >= 512


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


def test_thread_ids_are_reused_and_streams_are_not(shop: Workshop) -> None:
    run = shop.run(EXITS, "many", replays=1)
    assert run.trace.streams == 301
    size = run.counts(300, run.address("a"), 4096)
    assert size == (1024, 1024)
    awaited = [value for _, value, _ in run.events(0, "await")]
    assert len(set(awaited)) == 300


def test_without_a_folder_the_runtime_only_lets_the_program_run(shop: Workshop) -> None:
    run = shop.run(EXITS, "return", env={"AUTOFINITY_CAPTURE_DIR": ""})
    assert run.code == 0
    assert list(run.folder.iterdir()) == []


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


ROI = r"""
#include <pthread.h>
extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));
extern void autofinity_heartbeat(void) __attribute__((weak));
static volatile long a[1000];
static void touch(int n) { for (int i = 0; i < n; i++) a[i] = i; }
static void* work(void* p) { touch(300); return 0; }
int main(void) {
    touch(100);
    if (autofinity_roi_begin) autofinity_roi_begin();
    pthread_t t; pthread_create(&t, 0, work, 0);
    touch(200);
    pthread_join(t, 0);
    if (autofinity_heartbeat) autofinity_heartbeat();
    if (autofinity_roi_end) autofinity_roi_end();
    pthread_create(&t, 0, work, 0); pthread_join(t, 0);
    touch(50);
}
"""


def roi_accesses(folder: str) -> list[int]:
    return [stream["roi_accesses"] for stream in core.summary(folder)["streams"]]


def test_marks_bound_the_region_of_interest_for_all_threads(shop: Workshop) -> None:
    run = shop.run(ROI)
    assert [k for k, _, _ in run.events(0, "roi_begin", "heartbeat", "roi_end")] == [
        "roi_begin",
        "heartbeat",
        "roi_end",
    ]
    assert run.events(0, "heartbeat") == [("heartbeat", 1, 0)]
    main, worker, late = roi_accesses(str(run.folder))
    assert 200 <= main <= 210
    assert worker == 300
    assert late == 0


def test_the_parallel_region_is_from_the_first_thread_to_the_last_join(shop: Workshop) -> None:
    run = shop.run(ROI, env={"AUTOFINITY_CAPTURE_ROI": "parallel"})
    marks = run.events(0, "roi_begin", "roi_end")
    assert [kind for kind, _, _ in marks] == ["roi_begin", "roi_end"]
    main, worker, late = roi_accesses(str(run.folder))
    assert 200 <= main <= 210
    assert (worker, late) == (300, 300)


def test_the_whole_program_can_be_of_interest(shop: Workshop) -> None:
    run = shop.run(ROI, env={"AUTOFINITY_CAPTURE_ROI": "whole"})
    main, worker, late = roi_accesses(str(run.folder))
    assert 350 <= main <= 365
    assert (worker, late) == (300, 300)


ADDRESSES = r"""
#include <stdio.h>
#include <stdlib.h>
static long fixed[64];
int main(int c, char** v) {
    long local = 1, *small = malloc(64), *big = malloc(1 << 20);
    for (int i = 0; i < 64; i++) fixed[i] = big[i * 64] = small[i % 8] = local += i;
    printf("%s %p %p %p %p\n", v[1], (void*)fixed, (void*)&local, (void*)small, (void*)big);
    return fixed[63] == 0;
}
"""


def no_fixed_addresses() -> bool:
    """Whether the kernel or a container forbids to switch address randomisation off."""
    return subprocess.run(["setarch", "-R", "true"], check=False).returncode != 0


@pytest.mark.skipif(
    shutil.which("setarch") is None or no_fixed_addresses(),
    reason="address randomisation cannot be switched off here, or setarch is missing",
)
def test_every_capture_of_a_program_sees_it_at_the_same_addresses(shop: Workshop) -> None:
    first, second = (shop.run(ADDRESSES, "the same arguments", replays=0) for _ in range(2))
    assert first.stdout.startswith("the same arguments 0x")
    assert first.stdout == second.stdout
    assert first.trace.events(0).tobytes() == second.trace.events(0).tobytes()
