"""Pages only, on the next touch: what kernels do.

- `numa-balancing`: hinting faults of Linux, as both mapping papers had it (kernel 3.13; kMAF'16,
  sections 2.1.1 and 5.3; SAMMU, section 2): a scan takes the present bits of a piece of memory
  away, and a page moves to the node of the first thread that touches it again. No history.
- `numa-balancing-two`: today's filter (Linux, mm/mempolicy.c): a page moves when two faults
  in a row come from one node.
- `next-touch`: all pages once, to whoever touches them next.

Deviations: Linux scans 256 MiB a second. The papers' programs have 6.1 GiB on average (kMAF'16,
section 5.2), so each scan takes the same share, a twenty-fourth, of a program here. Threads stay
with the operating system, without a preferred node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from autofinity.mapping.pages import moves
from autofinity.mapping.pages import next_touch as toucher
from autofinity.mechanisms.recipe import UNMANAGED, Setting
from autofinity.mechanisms.sharing_aware import SharingAware, by, sent
from autofinity.model.detection import HintingFaults
from autofinity.model.sharing import NumaVectors
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, Interval, Sensors

SHARE_OF_MEMORY = 256 / (6.1 * 1024)


def scanning(setting: Setting, share: float = SHARE_OF_MEMORY) -> HintingFaults:
    """A share of the memory every second of a paper's run."""
    return HintingFaults(
        scan_period_ns=setting.ns(1000),
        scan_bytes=max(4096, round(share * setting.memory_bytes)),
    )


def numa_balancing(setting: Setting) -> SharingAware:
    """Without history."""
    return SharingAware("numa-balancing", setting, (scanning(setting),), page_mapper=by(toucher))


class WithHistory:
    """Hinting faults, and a rule that also looks at who touched a page last."""

    start = UNMANAGED

    def __init__(
        self, name: str, setting: Setting, share: float, wants: Callable[[int, int | None], bool]
    ) -> None:
        """`wants(node, before)`: whether a page goes to the node that touched it now, when `before`
        is the node that touched it the last time, None for no node.
        """
        self.name = name
        self._setting = setting
        self._wants = wants
        self.sensors = Sensors(detectors=(scanning(setting, share),))

    def begin(
        self, topology: Topology, available: frozenset[OsIndex], threads: int
    ) -> Mapping[int, int]:
        """Node that touched each page last: none did."""
        return {}

    def period_ns(self, state: Mapping[int, int]) -> int:
        """As without history."""
        return self._setting.ns(100)

    def step(
        self, state: Mapping[int, int], interval: Interval
    ) -> tuple[Mapping[int, int], Sequence[Action]]:
        """Move what the rule wants moved."""
        if interval.pages is None:
            return state, ()
        touched = dict(moves(replace(interval.pages, nodes={}), toucher))

        def mapper(pages: NumaVectors) -> tuple[tuple[int, int], ...]:
            return tuple(
                (page, node)
                for page, node in touched.items()
                if node != pages.nodes.get(page) and self._wants(node, state.get(page))
            )

        actions = sent(interval.pages, mapper, self._setting.threads)
        return {**state, **touched}, actions


def two_faults(setting: Setting) -> WithHistory:
    """The second fault in a row from one node moves the page."""
    return WithHistory(
        "numa-balancing-two",
        setting,
        SHARE_OF_MEMORY,
        lambda node, before: node == before,
    )


def next_touch(setting: Setting) -> WithHistory:
    """The first touch of all moves it."""
    return WithHistory("next-touch", setting, 1.0, lambda node, before: before is None)
