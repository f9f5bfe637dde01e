"""A running program through `ports.Process`: seen as it is, bound as far as it may be."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_run import preferred

from autofinity.linux.bind import mask_of
from autofinity.linux.event_tables import Encoding
from autofinity.linux.pages import Moved
from autofinity.linux.proc import tasks_of
from autofinity.linux.process import LinuxProcess, open_pidfd
from autofinity.linux.seated_threads import SeatedThreads
from autofinity.model.errors import CapabilityError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import BindThreads, MovePages

MS = 1_000_000
ALL = frozenset(OsIndex(cpu) for cpu in os.sched_getaffinity(0))
ONE = frozenset(sorted(ALL)[:1])
two_cpus = pytest.mark.skipif(len(ALL) < 2, reason="a pin needs two CPUs to be seen")


@pytest.fixture
def child(spinner: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Two threads that compute, and the main one, which waits for them by now."""
    with preferred(), subprocess.Popen([spinner, "2", "300"]) as process:
        while len(tasks := tasks_of(process.pid)) < 3 or tasks[0].runnable:
            time.sleep(0.001)
        yield process
        process.kill()


def watched(
    child: subprocess.Popen[bytes], counters: dict[str, Encoding] | None = None
) -> LinuxProcess:
    return LinuxProcess(
        child.pid, open_pidfd(child.pid), ALL, counters, node_os_indices=(OsIndex(0),)
    )


def test_threads_begin_once_in_order_of_creation_and_samples_are_of_each(
    child: subprocess.Popen[bytes],
) -> None:
    process = watched(child)
    first = process.advance(300 * MS)
    assert [event.kind for event in first.thread_events] == ["begin"] * 3
    assert [event.thread for event in first.thread_events] == [0, 1, 2]
    assert first.thread_events[0].tid == child.pid
    assert not first.ended
    second = process.advance(300 * MS)
    assert second.thread_events == ()
    by_tid = {sample.tid: sample for sample in second.samples}
    assert len(by_tid) == 3
    assert by_tid[child.pid].counts["task_clock_ns"] == 0
    workers = [sample for tid, sample in by_tid.items() if tid != child.pid]
    assert all(sample.counts["task_clock_ns"] > 0 for sample in workers)
    assert second.progress != second.progress


def test_a_look_does_not_last_over_a_suspension_of_program_and_monitor(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = watched(child)
    process.advance(50 * MS)
    poll = process._poll
    waits: list[int] = []

    class Suspended:
        """A batch system stops both in the first wait, and lets both go on."""

        def poll(self, ms: int) -> list[tuple[int, int]]:
            if ms:
                waits.append(ms)
            if waits != [200]:
                return poll.poll(ms)
            os.kill(child.pid, signal.SIGSTOP)
            time.sleep(2.5)
            os.kill(child.pid, signal.SIGCONT)
            return []

    monkeypatch.setattr(process, "_poll", Suspended())
    interval = process.advance(200 * MS)
    assert len(waits) == 2
    assert interval.end_ns - interval.start_ns < 2_000 * MS
    assert sum(sample.counts["task_clock_ns"] for sample in interval.samples) > 0


def test_the_end_is_seen_and_every_thread_ends(child: subprocess.Popen[bytes]) -> None:
    process = watched(child)
    process.advance(50 * MS)
    child.kill()
    child.wait()
    last = process.advance(10_000 * MS)
    assert last.ended
    assert [event.kind for event in last.thread_events] == ["end"] * 3


def test_masks_are_set_and_numbers_without_a_thread_are_passed_over(
    child: subprocess.Popen[bytes],
) -> None:
    process = watched(child)
    tids = [event.tid for event in process.advance(20 * MS).thread_events]
    outcome = process.apply([BindThreads(Placement((frozenset(), ONE, ONE, ONE, ONE)))])
    assert (outcome.done, outcome.skipped) == (2, 0)
    assert mask_of(tids[0]) == ALL
    assert mask_of(tids[1]) == mask_of(tids[2]) == ONE
    assert outcome.cost_ns > 0


def test_an_impossible_mask_is_skipped_with_its_reason(child: subprocess.Popen[bytes]) -> None:
    process = watched(child)
    process.advance(20 * MS)
    outcome = process.apply([BindThreads(Placement((frozenset({OsIndex(100_000)}),)))])
    assert (outcome.done, outcome.skipped) == (0, 1)
    assert "EINVAL" in outcome.reasons[0]


@two_cpus
def test_a_thread_that_somebody_else_pinned_afterwards_is_left_alone(
    child: subprocess.Popen[bytes],
) -> None:
    process = watched(child)
    tids = [event.tid for event in process.advance(20 * MS).thread_events]
    process.apply([BindThreads(Placement((frozenset(), ONE)))])
    other = frozenset(sorted(ALL)[1:2])
    os.sched_setaffinity(tids[1], other)
    outcome = process.apply([BindThreads(Placement((frozenset(), ONE)))])
    assert (outcome.done, outcome.skipped) == (0, 1)
    assert "pinned" in outcome.reasons[0]
    assert mask_of(tids[1]) == other


@contextmanager
def seated(
    child: subprocess.Popen[bytes], tid: int, mask: frozenset[OsIndex]
) -> Iterator[LinuxProcess]:
    """A watch of the child that has had a look, and then learns that `tid` was seated on `mask`."""
    reader, writer = os.pipe()
    process = LinuxProcess(
        child.pid, open_pidfd(child.pid), ALL, seated=SeatedThreads(reader, (ALL, mask))
    )
    process.advance(MS)
    os.write(writer, struct.pack("=ii", tid, 1))
    try:
        yield process
    finally:
        process.close()
        os.close(writer)


def bound_to_all(process: LinuxProcess) -> tuple[int, int]:
    """How many threads of three are bound when all are to have all CPUs, and how many are not."""
    outcome = process.apply([BindThreads(Placement((ALL,) * 3))])
    return outcome.done, outcome.skipped


@two_cpus
def test_a_pin_is_kept_when_another_thread_is_bound_to_the_same_cpu(
    child: subprocess.Popen[bytes],
) -> None:
    process = watched(child)
    tids = [event.tid for event in process.advance(20 * MS).thread_events]
    os.sched_setaffinity(tids[2], ONE)
    for _ in range(2):
        outcome = process.apply([BindThreads(Placement((frozenset(), ONE, ALL - ONE)))])
        assert (outcome.done, outcome.skipped) == (1, 1)
    assert mask_of(tids[2]) == ONE


@two_cpus
def test_a_thread_that_was_seated_after_the_last_look_is_no_pinned_one(
    child: subprocess.Popen[bytes],
) -> None:
    tid = tasks_of(child.pid)[1].tid
    os.sched_setaffinity(tid, ONE)
    with seated(child, tid, ONE) as process:
        assert bound_to_all(process) == (3, 0)
    assert mask_of(tid) == ALL


@two_cpus
def test_what_a_seated_thread_made_before_it_ended_is_no_pinned_thread(
    child: subprocess.Popen[bytes],
) -> None:
    made = tasks_of(child.pid)[2].tid
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    os.sched_setaffinity(made, ONE)
    with seated(child, ended.pid, ONE) as process:
        assert bound_to_all(process) == (3, 0)
    assert mask_of(made) == ALL


@two_cpus
def test_a_pin_to_the_seat_of_a_thread_that_pinned_itself_elsewhere_is_kept(
    child: subprocess.Popen[bytes],
) -> None:
    _, elsewhere, pinned = (task.tid for task in tasks_of(child.pid))
    os.sched_setaffinity(elsewhere, ALL - ONE)
    os.sched_setaffinity(pinned, ONE)
    with seated(child, elsewhere, ONE) as process:
        assert bound_to_all(process) == (1, 2)
    assert (mask_of(elsewhere), mask_of(pinned)) == (ALL - ONE, ONE)


def test_counters_of_each_thread_are_part_of_its_sample(child: subprocess.Popen[bytes]) -> None:
    clock = {"cpu_clock": Encoding(1, 0)}
    process = watched(child, clock)
    process.advance(100 * MS)
    interval = process.advance(300 * MS)
    process.close()
    if process.notes:
        pytest.skip(process.notes[0])
    workers = [sample for sample in interval.samples if sample.tid != child.pid]
    assert all(sample.scaled("cpu_clock") > 0 for sample in workers)
    assert all(sample.counts["task_clock_ns"] > 0 for sample in workers)


def test_a_thread_that_executes_another_program_in_the_first_ones_place_is_counted_on() -> None:
    """As the starters of containers that are written in Go do."""
    spin = "while True: pass"
    become = f"os.execv(sys.executable, [sys.executable, '-c', {spin!r}])"
    script = f"""
import os, sys, threading, time
def wait_and_become():
    sys.stdin.readline()
    {become}
threading.Thread(target=wait_and_become).start()
"""
    command = [sys.executable, "-c", script]
    with preferred(), subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        process = watched(child, {"clock": Encoding(1, 0)})
        while len(tasks_of(child.pid)) < 2:
            time.sleep(0.001)
        process.advance(50 * MS)
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.flush()
        while len(tasks_of(child.pid)) > 1:
            time.sleep(0.001)
        process.advance(500 * MS)
        (sample,) = process.advance(500 * MS).samples
        process.close()
        child.kill()
    if process.notes:
        pytest.skip(process.notes[0])
    assert sample.tid == child.pid
    assert sample.counts["clock"] > 0
    assert sample.counts["page_faults"] >= 0


def test_counters_that_are_refused_are_noted_once_and_the_rest_goes_on(
    child: subprocess.Popen[bytes],
) -> None:
    process = watched(child, {"nonsense": Encoding(1, 9999)})
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert process.advance(20 * MS).samples
    assert len(process.notes) == 1
    assert "cannot count nonsense" in process.notes[0]
    assert len(os.listdir("/proc/self/fd")) == before


def test_pages_that_are_not_there_are_counted_as_failures(child: subprocess.Popen[bytes]) -> None:
    outcome = watched(child).apply([MovePages((1, 2), (0, 0))])
    assert outcome.done == 0
    assert outcome.skipped == outcome.pages_skipped == 2
    assert outcome.pages_reasons


@pytest.mark.parametrize(
    ("failed", "said"),
    [
        ({"EACCES": 2}, "the program may have no memory on their nodes"),
        ({"ENOMEM": 2}, "hardly any memory is free on their nodes"),
        ({"ENOENT": 1, "EBUSY": 1}, ""),
    ],
)
def test_why_pages_stay_for_good_is_noted_once(
    failed: dict[str, int],
    said: str,
    child: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process = watched(child)
    monkeypatch.setattr("autofinity.linux.process.move", lambda *asked: Moved(0, failed))
    for _ in range(3):
        process.apply([MovePages((1, 2), (0, 0))])
    assert len(process.notes) == (1 if said else 0)
    assert said in "".join(process.notes)


def test_a_process_that_is_gone_cannot_be_watched() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    with pytest.raises(CapabilityError, match="cannot be watched"):
        open_pidfd(gone.pid)
