"""Faults of a running program fill the same tables as those of a simulated one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from autofinity.linux import address_sensor, followed_blocks
from autofinity.linux.address_sensor import AddressSensor
from autofinity.linux.shared_memory import SharedMemory
from autofinity.linux.touches import Touch
from autofinity.model.detection import FaultSampling
from autofinity.model.sharing import by_process, page_number, process_and_page
from autofinity.model.topology import PU, OsIndex, Topology

PID = 7
TWO_NODES = Topology(
    "test",
    "synthetic",
    (PU(OsIndex(0), 0, 0, 0, 0, 0), PU(OsIndex(5), 0, 1, 1, 1, 1)),
    (OsIndex(0), OsIndex(3)),
    ((10, 20), (20, 10)),
    frozenset({OsIndex(0), OsIndex(5)}),
)


class Scripted:
    """Faults as a program's rings would give them."""

    lost = 0
    faults: list[Touch]
    nodes: dict[int, int]

    def follow(self, tids: Iterable[int]) -> None:
        del tids

    def read(self) -> list[Touch]:
        found, self.faults = self.faults, []
        return found


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    scripted = Scripted()
    monkeypatch.setattr(address_sensor, "ThreadTouches", lambda events: scripted)
    # Page 1 is on the node that the kernel calls 3, page 2 has vanished.
    scripted.nodes = {1 * 4096: 3, 2 * 4096: -2}
    monkeypatch.setattr(
        address_sensor,
        "nodes_of",
        lambda pid, addresses: [scripted.nodes[each] for each in addresses],
    )
    return scripted


def fault(tid: int, address: int, cpu: int = 0) -> Touch:
    return Touch(0, PID, tid, address, OsIndex(cpu))


def test_threads_in_turn_on_one_block_share_and_on_other_blocks_of_the_page_do_not(
    rings: Scripted,
) -> None:
    sensor = AddressSensor(FaultSampling(block_bytes=256), TWO_NODES)
    rings.faults = [fault(10, 4096), fault(11, 4096 + 255), fault(10, 4096 + 64)]
    rings.faults += [fault(12, 4096 + 256), fault(99, 4096)]
    sharing, _ = sensor.look({10: 0, 11: 1, 12: 2})
    assert sharing is not None
    assert sharing.cells == ((0, 2, 0), (2, 0, 0), (0, 0, 0))
    rings.faults = []
    again, _ = sensor.look({10: 0})  # of the interval, and never smaller than before
    assert again is not None
    assert again.cells == ((0, 0, 0),) * 3


def test_kmaf14_section_3_1_1_processes_that_share_memory_are_one_matrix(
    rings: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid, start in ((7, 0x1000), (8, 0x5000)):
        (tmp_path / str(pid)).mkdir()
        shared = f"{start:x}-{start + 0x1000:x} rw-s 00000000 00:01 77 /dev/shm/x\n"
        (tmp_path / str(pid) / "maps").write_text(f"{shared}9000-a000 rw-p 00000000 00:00 0\n")
    fake = partial(SharedMemory, procfs=str(tmp_path))
    monkeypatch.setattr(address_sensor, "SharedMemory", fake)
    rings.nodes = dict.fromkeys((0x1000, 0x5000, 0x9000), 0)
    sensor = AddressSensor(FaultSampling(table="sub-blocks", block_bytes=1024), TWO_NODES)
    here = Touch(0, 8, 20, 0x5010, OsIndex(0))
    alone = fault(10, 0x9000)  # nothing is read of a process by itself
    there = [fault(10, 0x1020), fault(10, 0x1420)]
    rings.faults = [alone, here, *there, replace(here, address=0x9000)]
    sharing, _ = sensor.look({10: 0, 20: 1})
    assert sharing is not None
    assert sharing.cells == ((0, 1), (1, 0))


def test_a_page_counts_by_the_node_of_the_cpu_and_one_that_has_vanished_is_left_out(
    rings: Scripted,
) -> None:
    sensor = AddressSensor(FaultSampling(halve_on_move=True), TWO_NODES)
    rings.faults = [fault(10, 4096), *[fault(10, 4096 + 8, cpu=5)] * 4, fault(10, 2 * 4096)]
    _, pages = sensor.look({10: 0})
    page = page_number(PID, 1)
    assert pages is not None
    assert pages.pages == {page: (1, 4)}
    assert pages.nodes == {page: 1}  # logical
    sensor.moved([page])
    rings.faults = [fault(10, 4096)]
    _, later = sensor.look({10: 0})
    assert later is not None
    assert later.pages == {page: (1, 2)}


def test_counters_of_pages_begin_anew_when_a_thread_is_sent_to_another_node(
    rings: Scripted,
) -> None:
    sensor = AddressSensor(FaultSampling(), TWO_NODES)
    page = page_number(PID, 1)
    restarts: list[int] = []

    def counts_after(*masks: frozenset[OsIndex]) -> tuple[int, ...]:
        sensor.bound(masks)
        rings.faults = [fault(10, 4096)]
        _, pages = sensor.look({10: 0})
        assert pages is not None
        restarts.append(pages.restarts)
        return pages.pages[page]

    here, there = frozenset({OsIndex(0)}), frozenset({OsIndex(5)})
    assert counts_after() == (1, 0)
    assert counts_after(here | there) == (2, 0)  # it might run on both before
    assert counts_after(frozenset(), here) == (1, 0)
    assert counts_after(frozenset(), here) == (2, 0)
    assert counts_after(here, frozenset()) == (1, 0)
    assert counts_after(here, here) == (2, 0)
    assert counts_after(there, here) == (1, 0)
    assert restarts == [0, 0, 1, 1, 2, 2, 3]


def test_pages_that_are_too_many_for_a_look_are_shown_in_the_next(rings: Scripted) -> None:
    sensor = AddressSensor(FaultSampling(), TWO_NODES)
    rings.nodes = dict.fromkeys((page * 4096 for page in range(1, 2501)), 3)
    rings.faults = [fault(10, page * 4096) for page in range(1, 2501)]
    shown: list[int] = []
    for most in (1024, 1024, 452, 0):
        _, pages = sensor.look({10: 0})
        assert pages is not None
        assert len(pages.pages) == most
        shown += pages.pages
    assert shown == [page_number(PID, page) for page in range(1, 2501)]


@pytest.mark.parametrize("table", ["blocks", "sub-blocks"])
def test_kmaf16_section_4_3_2_threads_that_share_are_seen_however_large_a_program_is(
    rings: Scripted, monkeypatch: pytest.MonkeyPatch, table: Literal["blocks", "sub-blocks"]
) -> None:
    """Once in a sweep over its memory each page shows one of the two threads that share it."""
    monkeypatch.setattr(followed_blocks, "_MOST_BLOCKS", 1 << 10)
    one_node = replace(TWO_NODES, node_os_indices=(OsIndex(0),), distances=((10,),))
    sensor = AddressSensor(FaultSampling(table=table), one_node)
    shared = [0.0] * 4
    for sweep in range(6):
        rings.faults = [
            fault(10 + 2 * (page % 2) + sweep % 2, page * 4096) for page in range(10_000)
        ]
        sharing, _ = sensor.look({10: 0, 11: 1, 12: 2, 13: 3})
        assert sharing is not None
        shared = [*map(sum, zip(shared, sharing.cells[0], strict=True))]
    # An eighth of the table at least is followed, half of it this pair's, and most of it stays.
    assert shared[1] >= 0.7 * 4 * 64
    assert shared[2:] == [0, 0]


def test_kmaf16_equations_5_and_7_each_page_of_a_large_program_has_its_turn(
    rings: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page moves after two faults from one node, and after more than there are nodes."""
    monkeypatch.setattr(address_sensor, "_MOST_PAGES", 4)
    sensor = AddressSensor(FaultSampling(), TWO_NODES)
    program = range(1, 41)
    rings.nodes = dict.fromkeys((page * 4096 for page in program), 3)
    faults = dict.fromkeys(program, 0)
    for _ in range(100):  # sweeps over all pages
        for page in program:
            rings.faults = [fault(10, page * 4096)]
            _, pages = sensor.look({10: 0})
            assert pages is not None
            for number, counts in pages.pages.items():
                page = process_and_page(number)[1]
                faults[page] = max(faults[page], sum(counts))
    assert min(faults.values()) > TWO_NODES.n_nodes


def test_pages_that_are_gone_make_room_for_others(
    rings: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address_sensor, "_MOST_PAGES", 1)
    monkeypatch.setattr(address_sensor, "_MOST_MISSED", 10)
    sensor = AddressSensor(FaultSampling(), TWO_NODES)
    rings.faults = [fault(10, 2 * 4096), *[fault(10, 4096)] * 11]
    _, pages = sensor.look({10: 0})
    assert pages is not None
    assert pages.pages == {page_number(PID, 1): (1, 0)}


MUCH = """
import mmap, sys
from autofinity.linux import address_sensor
from autofinity.linux.shared_memory import SharedMemory
from autofinity.linux.touches import Touch
from autofinity.model.detection import FaultSampling
from autofinity.model.topology import PU, Topology

class Rings:
    lost, looks = 0, 0
    def __init__(self, events):
        pass
    def read(self):
        self.looks += 1
        for at in range(20_000):
            yield Touch(at, 7, at % 2, 4096 * (20_000 * self.looks + at), at % 4)

def rss_kib():
    with open("/proc/self/statm") as file:
        return mmap.PAGESIZE // 1024 * int(file.read().split()[1])

address_sensor.ThreadTouches = Rings
address_sensor.nodes_of = lambda pid, addresses: [0] * len(addresses)
nodes = tuple(range(4))
four = Topology("", "synthetic", tuple(PU(at, at, at, at, at, at) for at in nodes), nodes,
                ((10,) * 4,) * 4, frozenset(nodes))
sensor = address_sensor.AddressSensor(FaultSampling(table=sys.argv[1]), four)
before = rss_kib()
for _ in range(15):
    sensor.look({0: 0, 1: 1})
print(rss_kib() - before)
"""


@pytest.mark.parametrize("table", ["blocks", "sub-blocks"])
def test_memory_is_bounded_whatever_a_program_touches(table: str) -> None:
    """300,000 pages; without bounds they take 15 to 30 MiB."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", MUCH, table]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    assert int(done.stdout) <= 4 * 1024


def test_pages_are_told_apart_by_process() -> None:
    pages = [page_number(1, 5), page_number(2, 5), page_number(1, 6)]
    assert by_process(pages) == {1: [pages[0], pages[2]], 2: [pages[1]]}
