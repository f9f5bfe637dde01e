"""Looks at live runs: what is read, how often, and what vanishes meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_up_machine import machine
from own_database import by_hand, filled

from autofinity.linux.identity import identity_of
from autofinity.runtime import runs_now
from autofinity.runtime.runs_now import MEMORY_NS, RunsWatcher, cpus_of

TOPOLOGY = machine(packages=2, cores=2)
THREADS = """
import sys, threading, time
for _ in range(int(sys.argv[1])):
    threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
print("ready", flush=True)
time.sleep(300)
"""


class Clock:
    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def programs() -> Iterator[list[subprocess.Popen[str]]]:
    """Three programs of five threads."""
    words = [sys.executable, "-c", THREADS, "4"]
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    try:
        for each in started:
            assert each.stdout is not None
            each.stdout.readline()
        yield started
    finally:
        for each in started:
            each.kill()
            each.wait()
            assert each.stdout is not None
            each.stdout.close()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "state" / "behaviour.db"


def test_a_look_finds_the_threads_of_every_live_run(
    database: Path, programs: list[subprocess.Popen[str]]
) -> None:
    numbers = [filled(database, each.pid, identity_of(each.pid)) for each in programs]
    runs = RunsWatcher(database, TOPOLOGY).look()
    assert [seen.run.id for seen in runs] == numbers[::-1], "newest first"
    for seen in runs:
        assert len(seen.threads) == 5
        assert seen.alive and seen.watched
        assert {each.task.pid for each in seen.threads} == {seen.run.pid}
        assert cpus_of(seen) <= {each.task.cpu for each in seen.threads}
        assert seen.resident_bytes > 0
        assert all(each.share is None for each in seen.threads), "of two looks"


def test_only_the_chosen_run_is_looked_at(
    database: Path, programs: list[subprocess.Popen[str]]
) -> None:
    numbers = [filled(database, each.pid) for each in programs]
    (seen,) = RunsWatcher(database, TOPOLOGY, lambda run: run.id == numbers[1]).look()
    assert seen.run.pid == programs[1].pid
    assert not seen.watched, "nobody watches it"


def test_a_run_that_ends_is_shown_once_more_as_ended(
    database: Path, programs: list[subprocess.Popen[str]]
) -> None:
    gone, *_ = (filled(database, each.pid) for each in programs[:1])
    stays = filled(database, programs[1].pid)
    watcher = RunsWatcher(database, TOPOLOGY)
    watcher.look()
    programs[0].kill()
    programs[0].wait()
    assert [(seen.run.id, seen.alive) for seen in watcher.look()] == [(stays, True), (gone, False)]
    assert [seen.run.id for seen in watcher.look()] == [stays]


def test_a_look_reads_a_limited_number_of_threads_the_wanted_run_s_always_the_others_in_turn(
    database: Path, programs: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_now, "THREADS_AT_ONCE", 8)
    numbers = [filled(database, each.pid) for each in programs]
    clock = Clock()
    watcher = RunsWatcher(database, TOPOLOGY, clock_ns=clock)
    read: list[int] = []
    whole = watcher._read_run
    monkeypatch.setattr(
        watcher, "_read_run", lambda kept: (read.append(kept.seen.run.id), whole(kept))
    )
    for _ in range(6):
        clock.now_ns += 1_000_000_000
        watcher.look(numbers[0])
    assert read.count(numbers[0]) == 6
    assert read.count(numbers[1]) == read.count(numbers[2]) == 3
    assert len(read) == 12, "two runs of five threads reach the limit of 8"


def test_shares_are_cpu_time_over_the_time_between_the_reads(
    database: Path, programs: list[subprocess.Popen[str]]
) -> None:
    filled(database, programs[0].pid)
    clock = Clock()
    watcher = RunsWatcher(database, TOPOLOGY, clock_ns=clock)
    watcher.look()
    clock.now_ns += 1_000_000_000
    (seen,) = watcher.look()
    assert all(each.share is not None and 0 <= each.share < 0.5 for each in seen.threads)


def test_memory_is_read_seldom_and_by_node(
    database: Path, programs: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    filled(database, programs[0].pid)
    maps = tmp_path / "proc" / str(programs[0].pid) / "numa_maps"
    maps.parent.mkdir(parents=True)
    maps.write_text("7f00 default anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4\n")
    clock = Clock()
    watcher = RunsWatcher(database, TOPOLOGY, clock_ns=clock, procfs=str(tmp_path / "proc"))
    (seen,) = watcher.look()
    assert seen.memory is not None
    assert seen.memory.bytes_on == (4096, 8192)
    maps.write_text("garbage\n7f00 default N0=5\n")
    clock.now_ns += MEMORY_NS - 1
    assert watcher.look()[0].memory == seen.memory
    clock.now_ns += 1
    later = watcher.look()[0].memory
    assert later is not None
    assert later.bytes_on == (5 * 4096, 0)
    maps.unlink()
    clock.now_ns += MEMORY_NS
    assert watcher.look()[0].memory is None, "another user's may not be read"


def test_without_a_database_there_is_no_run_and_no_trouble(database: Path) -> None:
    watcher = RunsWatcher(database, TOPOLOGY)
    assert watcher.look() == ()
    assert watcher.trouble is None


def test_a_database_that_is_damaged_meanwhile_leaves_the_runs_that_were_known(
    database: Path, programs: list[subprocess.Popen[str]]
) -> None:
    filled(database, programs[0].pid)
    filled(database, programs[1].pid)
    watcher = RunsWatcher(database, TOPOLOGY)
    assert len(watcher.look()) == 2
    for beside in database.parent.iterdir():
        beside.write_bytes(b"garbage" * 100)
    assert len(watcher.look()) == 2
    assert watcher.trouble is not None
    programs[0].kill()
    programs[0].wait()
    watcher.look()
    assert len(watcher.look()) == 1


def test_a_damaged_row_is_left_out_and_said(
    database: Path, programs: list[subprocess.Popen[str]]
) -> None:
    good = filled(database, programs[0].pid)
    filled(database, programs[1].pid)
    with by_hand(database) as connection:
        connection.execute("UPDATE run SET hint = 'nonsense' WHERE pid = ?", (programs[1].pid,))
    watcher = RunsWatcher(database, TOPOLOGY)
    assert [seen.run.id for seen in watcher.look()] == [good]
    assert watcher.trouble is not None
