"""Faults of a running program fill the same tables as those of a simulated one."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from autofinity.linux import address_sensor
from autofinity.linux.address_sensor import AddressSensor
from autofinity.linux.touches import Touch
from autofinity.model.detection import FaultSampling
from autofinity.model.sharing import by_process, page_number
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
    nodes = {1 * 4096: 3, 2 * 4096: -2}
    monkeypatch.setattr(
        address_sensor, "nodes_of", lambda pid, addresses: [nodes[each] for each in addresses]
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


def test_pages_are_told_apart_by_process() -> None:
    pages = [page_number(1, 5), page_number(2, 5), page_number(1, 6)]
    assert by_process(pages) == {1: [pages[0], pages[2]], 2: [pages[1]]}
