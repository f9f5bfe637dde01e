"""The speeds of this machine that rules need, measured in seconds (`model.facts.Speeds`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from autofinity._core import measure
from autofinity.model.facts import Speeds
from autofinity.model.topology import PU, Topology
from autofinity.recording.bench import Bench
from autofinity.recording.node_bandwidth import read_gbs
from autofinity.recording.rows import idle, peak

STEPS = 4
_ROUNDS = 5


class MemorySpeeds:
    """Measures on the CPUs that may be used; a speed that these cannot show is NaN."""

    def __init__(self, topology: Topology, bench: Bench, step: Callable[[str], None]) -> None:
        """`measured` raises `OSError` where no thread can be pinned to any CPU."""
        self._topology = topology
        self._bench = bench
        self._step = step
        firsts = {pu.core: pu for pu in reversed(topology.pus) if pu.os_index in topology.allowed}
        self._cores = sorted(firsts.values(), key=lambda pu: pu.core)

    def measured(self) -> Speeds:
        """All speeds, measured step by step."""
        here = self._fullest_llc()
        ghz = peak(measure.clock_ghz(here[0].os_index)).value
        self._step("clock")
        same = self._handover(here[0], here[1:])
        far = self._handover(here[0], self._in_the_farthest_llc(here[0]))
        self._step("between cores")
        path = self._read_gbs(here)
        self._step("what one last-level cache reads")
        node = self._read_gbs([pu for pu in self._cores if pu.node == here[0].node])
        self._step("what one node gives")
        return Speeds(ghz, path, node if node > path else path, same, far)

    def _fullest_llc(self) -> list[PU]:
        """The usable cores of the LLC domain that has most of them."""
        domains: dict[int, list[PU]] = {}
        for pu in self._cores:
            domains.setdefault(pu.llc, []).append(pu)
        return max(domains.values(), key=len)

    def _in_the_farthest_llc(self, pu: PU) -> list[PU]:
        others = [other for other in self._cores if other.llc != pu.llc]
        far = max((self._distance(pu, other) for other in others), default=0)
        return [other for other in others if self._distance(pu, other) == far]

    def _distance(self, one: PU, other: PU) -> int:
        return self._topology.distances[one.node][other.node]

    def _handover(self, pu: PU, others: Sequence[PU]) -> float:
        """Nanoseconds for a line from the first other core that runs at the same time."""
        for other in others:
            samples = measure.handover_ns(pu.os_index, other.os_index, _ROUNDS)
            if samples:
                return idle(samples).value
        return math.nan

    def _read_gbs(self, pus: Sequence[PU]) -> float:
        """Bandwidth of the PUs' node for these PUs; NaN where memory is too little to show it."""
        samples = read_gbs(self._topology, pus, pus[0].node, self._bench, _ROUNDS)
        return peak(samples).value if samples else math.nan
