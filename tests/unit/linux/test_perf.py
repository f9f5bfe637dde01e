"""Counting through perf_event_open, on whatever this machine counts; encodings against libpfm."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from autofinity.linux.capabilities import TIERS, probe
from autofinity.linux.event_tables import (
    Cpu,
    Encoding,
    core_pmus,
    event_table,
    on_pmu,
)
from autofinity.linux.pages import mems_allowed, move, nodes_of
from autofinity.linux.perf import (
    SeveralPmus,
    explain,
    open_on_kinds,
    open_thread,
    read_totals,
)
from autofinity.linux.perf_event import open_event
from autofinity.model.errors import CapabilityError

TASK_CLOCK, PAGE_FAULTS = Encoding(1, 1), Encoding(1, 2)


def software_events() -> bool:
    try:
        os.close(open_event(TASK_CLOCK, 0))
    except OSError:
        return False
    return True


needs_perf = pytest.mark.skipif(
    not software_events(), reason="perf_event_open is not permitted here"
)


@needs_perf
def test_a_group_counts_one_thread_and_says_how_long() -> None:
    tid = threading.get_native_id()
    counters = open_thread(tid, {"task_clock_ns": TASK_CLOCK, "page_faults": PAGE_FAULTS})
    try:
        end = time.thread_time_ns() + 20_000_000
        while time.thread_time_ns() < end:
            pass
        with mmap.mmap(-1, 1024 * 4096) as fresh:  # an allocator might reuse what it has
            for page in range(0, len(fresh), 4096):
                fresh[page] = 1
        sample = counters.sample()
        assert counters.names == ("task_clock_ns", "page_faults")
        assert sample.tid == tid
        assert sample.counts["task_clock_ns"] > 15_000_000
        # 1 %: the kernel counts by another clock than it stamps by, slewed by up to 500 ppm.
        assert sample.counts["task_clock_ns"] <= 1.01 * (sample.end_ns - sample.start_ns)
        assert sample.counts["page_faults"] > 0
        assert 0 < sample.running_ns == sample.enabled_ns
        assert sample.running_ns == sample.enabled_ns
        # The next sample starts at zero again.
        assert counters.sample().counts["task_clock_ns"] < sample.counts["task_clock_ns"]
    finally:
        counters.close()


@needs_perf
def test_the_time_of_a_sample_encloses_the_readings_that_begin_and_end_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings: list[tuple[int, int]] = []
    read = os.read

    def stamped(fd: int, size: int) -> bytes:
        begin_ns = time.monotonic_ns()
        found = read(fd, size)
        readings.append((begin_ns, time.monotonic_ns()))
        return found

    monkeypatch.setattr(os, "read", stamped)
    counters = open_thread(threading.get_native_id(), {"task_clock_ns": TASK_CLOCK})
    samples = [counters.sample(), counters.sample()]
    counters.close()
    assert len(readings) == 3
    for sample, first, last in zip(samples, readings, readings[1:], strict=False):
        assert sample.start_ns <= first[0] <= last[1] <= sample.end_ns
    # Neighbours overlap by one reading, so that nothing falls between them.
    assert samples[1].start_ns <= samples[0].end_ns


@needs_perf
def test_an_inherited_group_reads_the_sum_of_all_threads_after_their_end() -> None:
    leader = open_event(TASK_CLOCK, 0, inherit=True)
    second = open_event(PAGE_FAULTS, 0, leader, inherit=True)

    def compute() -> None:
        end = time.thread_time_ns() + 30_000_000
        while time.thread_time_ns() < end:
            pass

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    totals = read_totals(leader, ["task_clock_ns", "page_faults"])
    os.close(second)
    os.close(leader)
    assert totals["task_clock_ns"] >= 50_000_000
    assert read_totals(leader, ["gone"]) == {}


def test_a_group_is_asked_again_while_a_thread_that_inherited_it_is_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [ChildProcessError(errno.ECHILD, "No child processes")] * 2

    def read(_: int, size: int) -> bytes:
        if answers:
            raise answers.pop()
        return struct.pack("4Q", 1, 50, 25, 7)

    monkeypatch.setattr(os, "read", read)
    assert read_totals(3, ["page_faults"]) == {"page_faults": 14}


@needs_perf
def test_a_refused_event_closes_what_was_open_and_names_errno_and_remedy() -> None:
    before = len(os.listdir("/proc/self/fd"))
    wanted = {"task_clock_ns": TASK_CLOCK, "nonsense": Encoding(1, 9999)}
    with pytest.raises(CapabilityError, match="cannot count task_clock_ns, nonsense: E"):
        open_thread(threading.get_native_id(), wanted)
    assert len(os.listdir("/proc/self/fd")) == before


@needs_perf
def test_a_thread_that_is_gone_is_a_capability_error() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    with pytest.raises(CapabilityError, match="ESRCH"):
        open_thread(child.pid, {"task_clock_ns": TASK_CLOCK})


def test_a_thread_that_is_gone_is_no_plain_error() -> None:
    assert explain(errno.ESRCH) == "ESRCH: the thread is gone"


def test_a_machine_of_two_core_kinds_has_a_pmu_for_each(tmp_path: Path) -> None:
    for name, number in (("cpu_core", 4), ("cpu_atom", 10)):
        assert core_pmus(tmp_path) == ()  # one is as none
        (tmp_path / name).mkdir()
        (tmp_path / name / "type").write_text(f"{number}\n")
    assert core_pmus(tmp_path) == (4, 10)
    table = event_table(Cpu("", 0, 0))
    atom = on_pmu(table["instructions"], 10)
    assert atom is not None
    assert (atom.type, atom.config) == (0, 10 << 32 | 1)
    assert on_pmu(Encoding(4, 0x02C2), 10) is None
    with pytest.raises(CapabilityError, match="only one of the core kinds has it"):
        open_on_kinds(0, {"retired_uops": Encoding(4, 0x02C2)}, (4, 10))


@needs_perf
def test_an_event_that_is_the_sum_of_several_counts_them_all() -> None:
    tid = threading.get_native_id()
    twice = Encoding(1, 2, also=(Encoding(1, 2), Encoding(1, 9)))  # page faults, and a dummy
    counters = open_thread(tid, {"twice": twice, "once": PAGE_FAULTS})
    with mmap.mmap(-1, 256 * 4096) as fresh:
        for page in range(0, len(fresh), 4096):
            fresh[page] = 1
    assert counters.names == ("twice", "once")
    counts = counters.sample().counts
    counters.close()
    assert counts["once"] >= 256
    assert counts["twice"] == 2 * counts["once"]


def test_the_parts_of_a_sum_that_take_turns_are_each_brought_to_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    enabled, whole, half = 100, 100, 50
    readings = {3: [(0, 0, 0), (enabled, whole, 7)], 4: [(0, 0, 0), (enabled, half, 20)]}

    def read(fd: int, size: int) -> bytes:
        return struct.pack("4Q", 1, *readings[fd].pop(0))

    monkeypatch.setattr(os, "read", read)
    monkeypatch.setattr("autofinity.linux.perf.fcntl.ioctl", lambda *_: 0)

    def one_in_a_group(event: Encoding, tid: int, group: int = -1, **_: bool) -> int:
        if group != -1:
            raise OSError(errno.EINVAL, "the PMU is full")
        return event.config

    monkeypatch.setattr("autofinity.linux.perf.open_event", one_in_a_group)
    counters = open_thread(0, {"sum": Encoding(4, 3, also=(Encoding(4, 4),))})
    sample = counters.sample()
    assert sample.counts == {"sum": 7 + 2 * 20}
    assert (sample.enabled_ns, sample.running_ns) == (enabled, whole)


class Pmu:
    """A PMU without fixed counters. A group of too many events is refused; one that needs the
    counter of the watchdog, too, never runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, counters: int, *, watchdog: bool) -> None:
        self.counters, self.free = counters, counters - watchdog
        self.leaders: dict[int, int] = {}
        """Open event → leader of its group."""
        self.now = 0
        monkeypatch.setattr("autofinity.linux.perf.watchdog_counts", lambda: watchdog)
        monkeypatch.setattr("autofinity.linux.perf.open_event", self.open)
        monkeypatch.setattr("autofinity.linux.perf.fcntl.ioctl", lambda *_: 0)
        monkeypatch.setattr("autofinity.linux.perf.os.close", self.leaders.pop)
        monkeypatch.setattr("autofinity.linux.perf.os.read", self.read)

    @property
    def groups(self) -> list[int]:
        """Number of events of each group."""
        return list(Counter(self.leaders.values()).values())

    def open(self, event: Encoding, tid: int, group: int = -1, **_: bool) -> int:
        fd = 1 + max(self.leaders, default=0)
        leader = fd if group == -1 else group
        if list(self.leaders.values()).count(leader) == self.counters:
            raise OSError(errno.EINVAL, "the PMU is full")
        self.leaders[fd] = leader
        return fd

    def read(self, fd: int, size: int) -> bytes:
        count = list(self.leaders.values()).count(fd)
        runs = count <= self.free
        self.now += 100
        values = [self.now * runs] * count
        return struct.pack(f"{3 + count}Q", count, self.now, self.now * runs, *values)


@pytest.mark.parametrize(
    ("counters", "watchdog", "groups"),
    [(6, False, [6, 2]), (6, True, [5, 3]), (8, False, [8]), (1, False, [1] * 8)],
)
def test_a_group_leaves_the_counter_that_the_watchdog_holds(
    counters: int, watchdog: bool, groups: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pmu = Pmu(monkeypatch, counters, watchdog=watchdog)
    opened = open_thread(7, {f"event{n}": Encoding(4, n) for n in range(8)})
    assert pmu.groups == groups
    sample = opened.sample()
    assert len(sample.counts) == 8
    assert all(sample.counts.values())
    opened.close()
    assert not pmu.leaders


def test_counts_of_a_group_that_never_ran_are_no_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    pmu = Pmu(monkeypatch, 6, watchdog=False)
    pmu.free = 5  # another program holds a counter for good
    opened = open_thread(7, {f"event{n}": Encoding(4, n) for n in range(8)})
    assert opened.sample().counts.keys() == {"event6", "event7"}


def test_a_pmu_where_the_thread_was_not_takes_no_counts_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings = {3: [(0, 0, 0), (100, 100, 7)], 4: [(0, 0, 0), (100, 0, 0)]}
    read = lambda fd, size: struct.pack("4Q", 1, *readings[fd].pop(0))  # noqa: E731
    monkeypatch.setattr("autofinity.linux.perf.os.read", read)
    monkeypatch.setattr("autofinity.linux.perf.fcntl.ioctl", lambda *_: 0)
    monkeypatch.setattr("autofinity.linux.perf.open_event", lambda event, *_, **__: event.config)
    kinds = [open_thread(7, {"instructions": Encoding(4, fd)}) for fd in readings]
    assert SeveralPmus(kinds).sample().counts == {"instructions": 7}


@needs_perf
def test_counts_on_several_pmus_are_added_up() -> None:
    tid = threading.get_native_id()
    both = SeveralPmus([open_thread(tid, {"page_faults": PAGE_FAULTS}) for _ in range(2)])
    alone = open_thread(tid, {"page_faults": PAGE_FAULTS})
    with mmap.mmap(-1, 256 * 4096) as fresh:
        for page in range(0, len(fresh), 4096):
            fresh[page] = 1
    twice, once = both.sample(), alone.sample()
    both.close()
    alone.close()
    assert both.names == ("page_faults",)
    assert twice.counts["page_faults"] >= 2 * 256
    assert once.counts["page_faults"] >= 256
    assert 0 < twice.running_ns <= twice.enabled_ns


def test_the_ladder_names_a_reason_for_each_step_that_is_missing() -> None:
    ladder = probe()
    assert ladder.tier in TIERS
    for capability in ladder.capabilities:
        assert capability.detail
    missing = [ladder[name] for name in TIERS[:2] if not ladder[name].available]
    assert all(capability.remedy for capability in missing)


@pytest.mark.parametrize(
    ("cpuinfo", "available", "says"),
    [
        ("vendor_id: GenuineIntel\ncpu family: 6\nmodel: 143\n", True, "in the own LLC domain"),
        ("vendor_id: AuthenticAMD\ncpu family: 25\nmodel: 1\n", True, "caches in other domains"),
        ("vendor_id: AuthenticAMD\ncpu family: 23\nmodel: 1\n", False, "family 23, model 1"),
        ("", False, "unknown, family 0"),
    ],
)
def test_the_ladder_says_whether_the_family_tells_lines_of_other_cores(
    cpuinfo: str, available: bool, says: str, tmp_path: Path
) -> None:
    (tmp_path / "cpuinfo").write_text(cpuinfo)
    found = probe(procfs=tmp_path)["cross-core events"]
    assert found.available == available
    assert says in found.detail


def test_probing_changes_nothing() -> None:
    def seen() -> tuple[object, ...]:
        return os.sched_getaffinity(0), len(os.listdir("/proc/self/fd")), os.getcwd()

    before = seen()
    probe()
    assert seen() == before


def test_memory_sampling_that_sysfs_shows_and_the_kernel_refuses_has_a_remedy(
    tmp_path: Path,
) -> None:
    ibs = tmp_path / "bus/event_source/devices/ibs_op"
    ibs.mkdir(parents=True)
    (ibs / "type").write_text("99999\n")  # no kernel has so many PMUs
    found = probe(sysfs=tmp_path)["memory sampling"]
    assert not found.available
    assert found.detail.startswith("accesses sampled by ibs_op are not recorded: E")
    assert "CAP_PERFMON" in found.remedy


def test_pages_tell_their_node_and_move_only_where_allowed() -> None:
    if not probe()["page migration"].available:
        pytest.skip("move_pages is not available here")
    page = 4096
    memory = (ctypes.c_char * (4 * page))()
    start = -(-ctypes.addressof(memory) // page) * page
    ctypes.memset(start, 1, 2 * page)
    (node, other) = nodes_of(0, [start, start + page])
    allowed = mems_allowed(os.getpid())
    assert node in allowed and other in allowed
    nowhere = max(allowed) + 1000
    moved = move(os.getpid(), [start, start + page, 0], [node, nowhere, node])  # type: ignore[list-item]
    assert moved.done == 1
    assert moved.failed["EACCES"] == 1
    assert sum(moved.failed.values()) == 2
