"""Measurements between cores and nodes: hand-over of lines, remote memory, bandwidths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from autofinity._core import measure
from autofinity.model.topology import PU, Topology
from autofinity.recording.assumed import Assumed
from autofinity.recording.bench import LINE_BYTES, Bench
from autofinity.recording.bound_node import node_to_bind
from autofinity.recording.node_bandwidth import read_gbs
from autofinity.recording.rows import Reading, Row, idle, list_row, peak, row, several
from autofinity.sim.distances import Matrix, between_llcs, by_slit, slit_ranks

_MOST_CLASSES = 6
_LEAST_CLASSES = 3
_NOTHING = "assumed.toml (nothing could be measured)"


class Between:
    """Measures a machine's distances, one class after the other.

    Where memory of other nodes cannot be measured, `assumed` gives the ratio of its latency to
    that of the own node.
    """

    def __init__(self, topology: Topology, bench: Bench, llc_bytes: int, assumed: Assumed) -> None:
        self._topology = topology
        self._bench = bench
        self._bytes = bench.beyond(llc_bytes)
        self._assumed = assumed
        self.further_from = slit_ranks(topology, _MOST_CLASSES)
        self._nodes: Matrix = by_slit(topology, self.further_from)
        self._llcs: Matrix = between_llcs(topology, self._nodes)
        self.classes = max(
            _LEAST_CLASSES, 1 + max(max(map(max, matrix)) for matrix in (self._nodes, self._llcs))
        )
        self._first_pu = {
            pu.core: pu for pu in reversed(topology.pus) if pu.os_index in topology.allowed
        }
        self.latency: list[Row] = []
        self.bandwidth: list[Row] = []

    def steps(self, llc_ns: float, dram: Reading) -> Iterator[str]:
        """Measure step by step; yield the name of each step when it is done."""
        self._between_cores(llc_ns)
        yield "between cores"
        self.latency.insert(0, self._remote_memory(dram))
        yield "remote memory"
        self.bandwidth.append(self._memory_bandwidth())
        yield "bandwidth of memory"
        self.bandwidth.append(self._link_bandwidth())
        self.bandwidth.append(row("fabric_gbs", 0, "D: memory_gbs was reached through it"))
        yield "bandwidth between nodes"

    def _between_cores(self, llc_ns: float) -> None:
        found = {c: r for c in range(self.classes) if (r := self._handover(c)) is not None}
        if found:
            values, why = _filled([found.get(c) for c in range(self.classes)])
        else:
            # One core, or two cores that never ran at the same time.
            values = [1.5 * llc_ns] * self.classes
            why = "E ±50 %: no two cores to measure; one and a half times the last-level cache"
        self.latency = [
            list_row("load_modified", values, f"D: as atomic_modified; {why}"),
            list_row(
                "load_shared",
                [min(llc_ns, values[0]), *values[1:]],
                f"D: no less than the LLC; {why}",
            ),
            list_row("store_modified", values, f"D: as atomic_modified; {why}"),
            list_row("store_shared", values, f"D: as atomic_modified; {why}"),
            list_row("atomic_modified", values, why),
            list_row("atomic_shared", values, f"D: as atomic_modified; {why}"),
        ]
        cpu = next(iter(self._first_pu.values())).os_index
        own = idle(measure.atomic_ns(cpu, self._bench.rounds))
        self.latency.append(row("atomic_hit", own.value, own.origin))

    def _handover(self, distance: int) -> Reading | None:
        """Hand-over times of a few pairs of cores of a distance class, spread over all pairs."""
        pairs = [
            (a.os_index, b.os_index)
            for a, b in combinations(self._first_pu.values(), 2)
            if self._llcs[a.llc][b.llc] == distance
        ]
        step = max(1, len(pairs) // self._bench.pairs)
        readings = []
        for a, b in pairs[::step][: self._bench.pairs]:
            samples = measure.handover_ns(a, b, self._bench.rounds)
            if samples:
                readings.append(idle(samples))
        return several(readings) if readings else None

    def _remote_memory(self, local: Reading) -> Row:
        lines = self._bytes // LINE_BYTES

        def at(cpu: int, node: int) -> Reading:
            return idle(measure.chase_ns(cpu, lines, node=node, rounds=min(10, self._bench.rounds)))

        found: list[Reading | None] = [local, *self._each_class(at)]
        refused = any(self._pair(c) and found[c] is None for c in range(1, self.classes))
        if refused:
            assumed = self._assumed.table("latency")["dram"]
            assert isinstance(assumed, list)
            values = [local.value * assumed[c] / assumed[0] for c in range(self.classes)]
            ratios = "remote not allowed to bind memory, ratios of assumed.toml"
            why = f"E ±30 %: {ratios}; {local.origin}"
        else:
            values, why = _filled(found)
        return list_row("dram", values, why)

    def _memory_bandwidth(self) -> Row:
        readings = [self._read(node, node) for node in range(self._topology.n_nodes)]
        known = [each for each in readings if each is not None]
        if not known:
            return self._assumed.row("bandwidth", "memory_gbs", _NOTHING)
        least = min(each.value for each in known)
        origin = Reading(0, max(each.spread for each in known)).origin
        if len(readings) == 1:
            return row("memory_gbs", least, origin)
        empty = self._topology.memoryless_nodes | {
            node for node in range(len(readings)) if not self._pus_of(node)
        }
        if empty:
            origin += "; 0 of nodes without cores or memory"
        if len(known) + len(empty) < len(readings):
            origin += "; the least of others for nodes with too little free memory"
        values = [
            each.value if each else 0.0 if node in empty else least
            for node, each in enumerate(readings)
        ]
        return list_row("memory_gbs", values, origin)

    def _link_bandwidth(self) -> Row:
        found: list[Reading | None] = [Reading(0.0, 0.0)]
        for distance in range(1, self.classes):
            pair = self._pair(distance)
            found.append(self._read(*pair) if pair else None)
        if all(each is None for each in found[1:]):
            return list_row("link_gbs", [0.0] * self.classes, "D: no second node, no limit")
        values, why = _filled(found)
        return list_row("link_gbs", values, f"{why}; taken as a link for every pair of nodes")

    def _each_class(self, measured: Callable[[int, int], Reading]) -> list[Reading | None]:
        """`measured` for one CPU and one node of each class from 1 on; None where that is
        impossible.
        """
        found: list[Reading | None] = []
        for distance in range(1, self.classes):
            pair = self._pair(distance)
            try:
                found.append(
                    measured(
                        self._pus_of(pair[0])[0].os_index, node_to_bind(self._topology, pair[1])
                    )
                    if pair
                    else None
                )
            except OSError:
                found.append(None)
        return found

    def _pair(self, distance: int) -> tuple[int, int] | None:
        """The first two nodes of a class, of which the first has a core."""
        nodes = range(self._topology.n_nodes)
        return next(
            (
                (a, b)
                for a in nodes
                for b in nodes
                if self._nodes[a][b] == distance and self._pus_of(a)
            ),
            None,
        )

    def _read(self, node: int, memory: int) -> Reading | None:
        pus, rounds = self._pus_of(node), min(10, self._bench.rounds)
        try:
            samples = read_gbs(self._topology, pus, memory, self._bench, rounds) if pus else []
        except OSError:
            return None
        return peak(samples) if samples else None

    def _pus_of(self, node: int) -> list[PU]:
        """First usable PU of each core of a node."""
        return [pu for pu in self._first_pu.values() if pu.node == node]


def _filled(readings: Sequence[Reading | None]) -> tuple[list[float], str]:
    """A value for every class (where it is missing, that of the class before), and the comment."""
    values: list[float] = []
    missing = []
    nearest = next(each for each in readings if each is not None)
    for distance, each in enumerate(readings):
        if each is None:
            missing.append(str(distance))
        nearest = each or nearest
        values.append(nearest.value)
    known = [each for each in readings if each is not None]
    origin = Reading(0, max(each.spread for each in known)).origin
    if missing:
        origin += f"; class {', '.join(missing)} is not here"
    return values, origin
