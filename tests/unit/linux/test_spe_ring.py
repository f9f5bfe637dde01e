"""Arm's SPE through rings laid out as the kernel does it, by the sensor that all PMUs share."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import struct
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from click.testing import CliRunner

from autofinity.cli.detect import command as detect
from autofinity.linux import address_sampling
from autofinity.linux.access_events import AccessEvent
from autofinity.linux.address_sampling import ThreadTouches, open_touches
from autofinity.linux.address_sensor import AddressSensor
from autofinity.linux.event_tables import Encoding
from autofinity.linux.spe_ring import SpeRing
from autofinity.linux.touch_sharing import TouchSharing
from autofinity.linux.touches import Born, Record, Touch
from autofinity.model.detection import FaultSampling
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import PU, OsIndex, Topology
from tests.support import kernel_ring
from tests.support.kernel_ring import PAGE, KernelRing, ns
from tests.support.spe_records import PAD, access

PID, RING_BYTES = 70, 32 << 10
LEAST_BYTES = 2 * PAGE  # of an area
SPE = AccessEvent("accesses sampled by arm_spe_0", Encoding(9, 1), spe=True)
ONE_NODE = Topology(
    "test",
    "synthetic",
    tuple(PU(OsIndex(cpu), cpu, cpu, 0, 0, 0) for cpu in range(4)),
    (OsIndex(0),),
    ((10,),),
    frozenset(map(OsIndex, range(4))),
)


class Kernel:
    """Opens rings in place of the kernel, one for each thread or CPU."""

    def __init__(self) -> None:
        self.rings: dict[tuple[int, int], KernelRing] = {}
        self.made: list[KernelRing] = []
        self.enabled: list[int] = []
        self.refused: set[int] = set()
        self.writes: Callable[[KernelRing, int], None] = lambda ring, cpu: None
        """Writer of the records in a new ring."""

    def open(self, event: AccessEvent, tid: int, *, cpu: int = -1, **how: object) -> int:
        del event
        if tid in self.refused:
            raise ProcessLookupError(3, "No such process")
        following = bool(how.get("following"))
        ring_bytes = (256 if following else 32) << 10
        ring = KernelRing(max(ring_bytes // 4, PAGE), max(ring_bytes, LEAST_BYTES))
        self.rings[tid, cpu] = ring
        self.made.append(ring)
        self.writes(ring, cpu)
        return ring.descriptor()

    def close(self) -> None:
        for ring in self.made:
            ring.close()


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    made = Kernel()
    monkeypatch.setattr(AccessEvent, "open", lambda event, tid, **how: made.open(event, tid, **how))
    monkeypatch.setattr(fcntl, "ioctl", lambda fd, request, *more: made.enabled.append(fd))
    yield made
    made.close()


@pytest.fixture
def ring() -> Iterator[KernelRing]:
    made = KernelRing(max(RING_BYTES // 4, PAGE), max(RING_BYTES, LEAST_BYTES))
    yield made
    made.close()


@pytest.fixture
def reader(ring: KernelRing, monkeypatch: pytest.MonkeyPatch) -> Iterator[SpeRing]:
    monkeypatch.setattr(fcntl, "ioctl", lambda fd, request, *more: 0)
    made = SpeRing(ring.descriptor(), RING_BYTES)
    yield made
    made.close()


def drained(reader: SpeRing) -> tuple[list[Record], int]:
    """Records that came, and how many were lost."""
    before = reader.lost
    return list(reader.drain()), reader.lost - before


def touch(tid: int, ticks: int, page: int, cpu: int = 0) -> Touch:
    return Touch(ns(ticks), PID, tid, page * 4096, OsIndex(cpu))


def records(*accesses: tuple[int, int]) -> bytes:
    """Records of (ticks, page)."""
    return b"".join(access(page * 4096, ticks) for ticks, page in accesses)


def test_the_area_is_asked_for_behind_the_records(ring: KernelRing, reader: SpeRing) -> None:
    start, size = ring.asked_area
    assert start == PAGE + max(RING_BYTES // 4, PAGE)
    assert size == max(RING_BYTES, LEAST_BYTES)
    assert drained(reader) == ([], 0)


def test_an_access_has_thread_and_cpu_of_its_record_and_its_own_time(
    ring: KernelRing, reader: SpeRing
) -> None:
    ring.traced(records((10, 5), (12, 6)), PID, 71, ns(20), cpu=3)
    assert drained(reader) == ([touch(71, 10, 5, cpu=3), touch(71, 12, 6, cpu=3)], 0)
    assert drained(reader) == ([], 0)
    assert ring.free_area == ring.asked_area[1]


def test_area_and_records_go_round(ring: KernelRing, reader: SpeRing) -> None:
    """Run until each has wrapped around several times, at every place where records may be cut."""
    ticks, size = count(1), ring.asked_area[1]
    for _ in range(4 * size // (3 * 64 + 40)):
        ring.pad(40)
        now = [next(ticks) for _ in range(3)]
        ring.traced(records(*((at, at) for at in now)), PID, 71, ns(now[-1]))
        assert drained(reader) == ([touch(71, at, at) for at in now], 0)
        assert ring.free_area == size


def test_an_area_that_was_full_is_emptied_and_the_event_goes_on(kernel: Kernel) -> None:
    touches = ThreadTouches([SPE])
    touches.follow([71])
    ring = kernel.rings[71, -1]
    (fd,) = kernel.enabled  # once its memory is there
    full = ring.free_area // 64
    ring.traced(records(*((at, at) for at in range(full))), PID, 71, ns(full))
    ring.record(kernel_ring.AUX, struct.pack("3Q", full * 64, 0, kernel_ring.TRUNCATED), PID, 71, 0)
    assert [seen.address // 4096 for seen in touches.read()] == list(range(1, full))  # 0 is nothing
    assert touches.lost == 1
    assert ring.free_area == full * 64
    assert kernel.enabled == [fd, fd]
    list(touches.read())
    assert kernel.enabled == [fd] * 3  # it may have stopped as room was made
    list(touches.read())
    assert kernel.enabled == [fd] * 3  # nothing came
    ring.pad(ring.free_area)  # so full that the kernel does not even say so
    list(touches.read())
    assert ring.free_area == full * 64
    assert kernel.enabled == [fd] * 4
    touches.close()


def test_the_last_record_of_a_damaged_piece_is_not_believed(
    ring: KernelRing, reader: SpeRing
) -> None:
    damaged = kernel_ring.TRUNCATED | kernel_ring.PARTIAL
    ring.traced(records((1, 1), (2, 2)), PID, 71, ns(3), flags=damaged)
    assert drained(reader) == ([touch(71, 1, 1)], 1)
    cut = records((4, 1)) + records((5, 2))[:-9]
    ring.traced(cut, PID, 71, ns(6), flags=damaged)
    assert drained(reader) == ([touch(71, 4, 1)], 2)
    ring.traced(b"", PID, 71, ns(6), flags=damaged)
    assert drained(reader) == ([], 1)


def test_operations_that_collided_were_never_sampled_and_are_not_counted(
    ring: KernelRing, reader: SpeRing
) -> None:
    ring.traced(records((1, 1)), PID, 71, ns(3), flags=kernel_ring.COLLISION)
    assert drained(reader) == ([touch(71, 1, 1)], 0)


def test_addresses_of_the_kernel_are_left_out(ring: KernelRing, reader: SpeRing) -> None:
    ring.traced(access(0xFF_0000_1234_5678, 1) + PAD * 64, PID, 71, ns(3))
    assert drained(reader) == ([], 0)


def test_threads_that_swapped_places_within_a_piece_are_told_apart_by_time(
    ring: KernelRing, reader: SpeRing
) -> None:
    ring.switched(PID, 71, ns(10), out=True)
    ring.switched(PID, 72, ns(11), out=False)
    # The kernel says 72: it was there when the piece ended.
    ring.traced(records((8, 1), (9, 2), (11, 3), (15, 4)), PID, 72, ns(16))
    assert drained(reader) == (
        [touch(71, 8, 1), touch(71, 9, 2), touch(72, 11, 3), touch(72, 15, 4)],
        0,
    )
    ring.switched(PID, 72, ns(20), out=True)
    ring.switched(PID, 73, ns(30), out=False)
    ring.switched(PID, 73, ns(40), out=True)
    # At 25 no thread of ours was there.
    ring.traced(records((17, 5), (25, 9), (30, 6), (39, 7)), PID, 73, ns(40))
    assert drained(reader) == ([touch(72, 17, 5), touch(73, 30, 6), touch(73, 39, 7)], 1)


def test_where_switches_are_missing_no_thread_is_guessed(ring: KernelRing, reader: SpeRing) -> None:
    ring.switched(PID, 71, ns(10), out=False)
    ring.record(kernel_ring.LOST, struct.pack("QQ", 1, 5), PID, 71, ns(19))
    ring.switched(PID, 73, ns(20), out=False)
    ring.traced(records((12, 1), (21, 2)), PID, 73, ns(30))
    assert drained(reader) == ([touch(73, 21, 2)], 6)


def test_of_very_many_turns_without_an_access_the_last_are_known(
    ring: KernelRing, reader: SpeRing
) -> None:
    ticks = 0
    for _ in range(60):
        for _ in range(50):
            ticks += 10
            ring.switched(PID, 71, ns(ticks), out=False)
            ring.switched(PID, 71, ns(ticks + 5), out=True)
        assert drained(reader) == ([], 0)
    ring.traced(records((11, 1), (ticks - 6000, 2), (ticks + 1, 3)), PID, 72, ns(ticks + 5))
    known = [touch(71, ticks - 6000, 2), touch(71, ticks + 1, 3)]
    assert drained(reader) == (known, 1)


def test_alignment_is_that_of_the_whole_area(ring: KernelRing, reader: SpeRing) -> None:
    ring.pad(5)
    ring.traced(b"\x23\x00" + b"\xff" * 9 + records((1, 1)), PID, 71, ns(3))
    assert drained(reader) == ([touch(71, 1, 1)], 0)


def test_two_pmus_lock_no_more_memory_than_one(kernel: Kernel) -> None:
    for events in ([SPE], [SPE, SPE]):
        touches = ThreadTouches(events)
        touches.follow([71])
        _, size = kernel.rings[71, -1].asked_area
        assert size == max(RING_BYTES // len(events), LEAST_BYTES)
        touches.close()


def test_the_rings_of_very_many_threads_are_smaller(kernel: Kernel) -> None:
    touches = ThreadTouches([SPE])
    touches.follow(range(100, 228))
    sizes = [kernel.rings[tid, -1].asked_area[1] for tid in range(100, 228)]
    assert set(sizes) == {max(8 << 10, LEAST_BYTES)}
    touches.close()


def test_births_are_told(ring: KernelRing, reader: SpeRing) -> None:
    born = struct.pack("IIIIQ", PID, PID, 72, 71, ns(4))
    ring.record(kernel_ring.FORK, born, PID, 71, ns(4))
    assert drained(reader) == ([Born(ns(4), PID, 72)], 0)


def test_a_kernel_that_tells_no_time_is_refused_and_nothing_is_held() -> None:
    ring = KernelRing(max(RING_BYTES // 4, PAGE), RING_BYTES, tells_time=False)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(CapabilityError, match=r"expected Linux 5\.9"):
        SpeRing(ring.descriptor(), RING_BYTES)
    assert len(os.listdir("/proc/self/fd")) == before
    ring.close()


def test_the_sensor_recovers_a_known_pattern_from_threads_that_run_already(kernel: Kernel) -> None:
    """Threads 0 and 2 in turn on 40 pages, 1 and 3 on 40 others; each has 30 of its own."""
    sensor = AddressSensor(FaultSampling(), ONE_NODE, [SPE])
    tids = {81 + thread: thread for thread in range(4)}
    sensor.follow(tids)
    ticks, turns = count(1000), 5
    of_thread: dict[int, list[tuple[int, int]]] = {tid: [] for tid in tids}
    for _ in range(turns):
        for page in range(40):
            for tid, thread in tids.items():
                of_thread[tid].append((next(ticks), 1 + 1000 * (thread % 2) + page))
    for tid, thread in tids.items():
        of_thread[tid] += [(next(ticks), 10_000 * (1 + thread) + page) for page in range(30)]
        kernel.rings[tid, -1].traced(records(*of_thread[tid]), PID, tid, ns(next(ticks)))
    sharing, _ = sensor.look(tids)
    # With two that take turns, each counts for the other, from the second touch on.
    shared = 40 * (2 * turns - 1)
    assert sharing is not None
    assert sharing.cells == (
        (0, 0, shared, 0),
        (0, 0, 0, shared),
        (shared, 0, 0, 0),
        (0, shared, 0, 0),
    )
    assert sensor.lost == 0
    sensor.close()


def test_a_program_that_is_watched_from_its_start_is_recovered_on_the_cpus_that_have_it(
    kernel: Kernel,
) -> None:
    """Two CPUs, three threads: on CPU 1 the second and the third swap places all the time."""
    big = AccessEvent("big", Encoding(9, 1), spe=True, cpus=frozenset(map(OsIndex, (0, 1))))
    small = AccessEvent("small", Encoding(10, 1), spe=True, cpus=frozenset({OsIndex(4)}))
    sampler = open_touches(PID, range(6), [big, small])
    assert sorted(cpu for _, cpu in kernel.rings) == [0, 1, 4]
    assert kernel.enabled == []  # they wait for exec
    tally = TouchSharing()
    first, second = kernel.rings[PID, 0], kernel.rings[PID, 1]
    for tid in (71, 72, 73):
        first.record(
            kernel_ring.FORK, struct.pack("IIIIQ", PID, PID, tid, PID, ns(tid)), PID, 71, 0
        )
    for turn in range(10):
        start = 1000 + 100 * turn
        first.traced(records((start + 5, 1), (start + 30, 2)), PID, 71, ns(start + 99))
        second.switched(PID, 72, ns(start), out=False, cpu=1)
        second.switched(PID, 72, ns(start + 20), out=True, cpu=1)
        second.switched(PID, 73, ns(start + 21), out=False, cpu=1)
        second.switched(PID, 73, ns(start + 40), out=True, cpu=1)
        both = records((start + 10, 1), (start + 22, 2), (start + 35, 3))
        second.traced(both, PID, 73, ns(start + 40), cpu=1)
        tally.add(sampler.read())
    assert tally.tids == (71, 72, 73)
    # Page 1: 71 and 72 in turn; page 2: 73 and 71 in turn; page 3: 73 alone.
    assert tally.sharing.cells == ((0, 19, 19), (19, 0, 0), (19, 0, 0))
    assert sorted(tally.pages.pages.values()) == [(0, 0, 10), (10, 0, 10), (10, 10, 0)]
    assert sampler.lost == 0
    sampler.close()


def test_a_thread_that_has_ended_is_nobodys_loss(kernel: Kernel) -> None:
    kernel.refused = {72}
    touches = ThreadTouches([SPE])
    touches.follow([71, 72])
    assert set(kernel.rings) == {(71, -1)}
    touches.close()


def test_detect_takes_spe_where_it_is_usable_as_it_takes_the_others(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one CPU two threads take turns on a page; `true` itself is not sampled here."""
    one_cpu = dataclasses.replace(SPE, cpus=frozenset({OsIndex(0)}))
    monkeypatch.setattr(address_sampling, "usable_events", lambda: ((one_cpu,), ""))

    def written(ring: KernelRing, cpu: int) -> None:
        for turn in range(6):
            ring.traced(records((turn, 1)), PID, 71 + turn % 2, ns(turn), cpu)

    kernel.writes = written
    done = CliRunner().invoke(detect, ["--json", "--", "true"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["with"] == "accesses sampled by arm_spe_0"
    assert found["tids"] == [71, 72]
    assert found["sharing"] == [[0, 5], [5, 0]]
    assert found["touches_lost"] == 0
