"""/proc as it is written, names with parentheses included; CPU lists as the kernel writes them."""

from __future__ import annotations

import os
import subprocess
import threading

import pytest

from autofinity.linux.bind import StartMask, allowed_now, bind_thread, mask_of
from autofinity.linux.proc import Task, family_of, parse_stat, switches_of, tasks_of, times_of
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.topology import OsIndex

STAT = (
    "4242 (a) b (c)) R 1 2 3 0 -1 4194304 11 12 13 14 150 25 0 0 20 0 1 0 98765 1 2 3 4 5 6 7 8 9 "
    "10 11 12 13 14 15 16 17 18 19 20 21 22 23 24"
)


def test_a_name_may_hold_spaces_and_parentheses() -> None:
    task = parse_stat(STAT, 7)
    tick = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert task == Task(4242, 7, "a) b (c)", 98765, 175 * tick, 11 + 13, OsIndex(17), runnable=True)


@pytest.mark.parametrize("name", ["GC Thread#3", "iou-wrk-77", "C2 CompilerThre", "VM Thread"])
def test_threads_of_runtimes_are_helpers_by_name(name: str) -> None:
    assert Task(1, 1, name, 0, 0, 0, OsIndex(0)).helper
    assert not Task(1, 1, "worker", 0, 0, 0, OsIndex(0)).helper


def test_our_own_threads_are_found_in_order_of_creation() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        tids = [task.tid for task in tasks_of(os.getpid())]
        assert thread.native_id in tids
        assert tids.index(os.getpid()) < tids.index(thread.native_id or 0)
        task = tasks_of(os.getpid())[0]
        assert sum(switches_of(task)) > 0
        on_cpu, waited = times_of(task)
        assert on_cpu >= 0
        assert waited >= 0
    finally:
        stop.set()
        thread.join()


def test_without_schedstat_cpu_time_is_what_stat_said() -> None:
    gone = Task(tid=1 << 30, pid=1 << 30, name="x", started=1, cpu_ns=70, faults=0, cpu=OsIndex(0))
    assert times_of(gone) == (70, 0)


def test_without_scheduler_statistics_cpu_time_is_what_stat_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("autofinity.linux.proc.read_text", lambda path: "0 0 0\n")
    assert times_of(Task(7, 7, "x", 1, 70, 0, OsIndex(0))) == (70, 0)
    monkeypatch.setattr("autofinity.linux.proc.read_text", lambda path: "71 5 2\n")
    assert times_of(Task(7, 7, "x", 1, 70, 0, OsIndex(0))) == (71, 5)


@pytest.mark.parametrize(
    "after", ["", "x86_Thread_features:\t\nx86_Thread_features_locked:\tshstk \n"]
)
def test_switches_are_known_whatever_lines_follow_them(
    after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = f"Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n{after}"
    monkeypatch.setattr("autofinity.linux.proc.read_text", lambda path: status)
    assert switches_of(Task(7, 7, "x", 1, 70, 0, OsIndex(0))) == (12, 3)


def test_a_kernel_that_counts_no_switches_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """gVisor, in containers."""
    status = "Name:\tx\nState:\tR (running)\nThreads:\t1\n"
    monkeypatch.setattr("autofinity.linux.proc.read_text", lambda path: status)
    assert switches_of(Task(7, 7, "x", 1, 70, 0, OsIndex(0))) == (0, 0)


def test_a_thread_that_is_gone_has_no_switches() -> None:
    assert switches_of(Task(1 << 30, 1 << 30, "x", 1, 70, 0, OsIndex(0))) == (0, 0)


def test_descendants_belong_to_the_family() -> None:
    child = subprocess.Popen(["sh", "-c", "sleep 30; true"])
    try:
        while len(family_of(child.pid)) < 2:
            assert child.poll() is None
        assert family_of(child.pid)[0] == child.pid
        assert child.pid in family_of(os.getpid())
    finally:
        for pid in reversed(family_of(child.pid)):
            os.kill(pid, 9)
        child.wait()


def test_a_process_that_is_gone_has_no_threads() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert tasks_of(child.pid) == []
    assert mask_of(child.pid) is None


def test_a_thread_that_ended_is_no_failure() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert bind_thread(child.pid, frozenset({OsIndex(0)})) == "ended"


def test_a_mask_without_an_allowed_cpu_is_refused_with_its_reason() -> None:
    reason = bind_thread(0, frozenset({OsIndex(100_000)}))
    assert reason is not None and reason.startswith("EINVAL")


def test_what_is_allowed_now_is_within_what_was_allowed_at_the_start() -> None:
    start = frozenset(OsIndex(cpu) for cpu in os.sched_getaffinity(0))
    now = allowed_now(os.getpid(), StartMask(start | {OsIndex(100_000)}))
    assert now and now <= start


def test_where_a_cgroup_allows_none_of_the_cpus_of_the_start_all_that_it_allows_are_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel moves the program there, too."""
    online = frozenset(OsIndex(cpu) for cpu in os.sched_getaffinity(0))
    monkeypatch.setattr("autofinity.linux.bind.cpuset_of", lambda pid: online)
    elsewhere = StartMask(frozenset({OsIndex(100_000)}))
    assert allowed_now(os.getpid(), elsewhere) == online


def test_the_list_of_an_empty_file_is_empty() -> None:
    assert parse_cpu_list("\n") == parse_cpu_list("") == frozenset()
    assert format_cpu_list([]) == ""
