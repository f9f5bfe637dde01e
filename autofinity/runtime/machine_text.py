"""Text that identifies the machine of a row in the behaviour database.

Machines may share home folders or a site's database; rows of different machines are never learned
from together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from autofinity.model.topology import PU, OsIndex, Topology
from autofinity.policy.shipped import Shape

_COUNTS = ("sockets", "llcs", "cores", "pus", "nodes")
_TEXT = re.compile(" ".join(rf"{name}:(\d{{1,7}})" for name in _COUNTS) + r" (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MachineKind:
    """Numbers of the parts of a machine, and its CPU model."""

    sockets: int
    llcs: int
    cores: int
    pus: int
    nodes: int
    model: str

    @property
    def shape(self) -> Shape | None:
        """Shape of such a machine, if its parts are alike; None: they cannot be."""
        if self.synthetic is None:
            return None
        per_socket, per_llc = self.llcs // self.sockets, self.cores // self.llcs
        return Shape(self.sockets, self.nodes, per_socket, per_llc)

    @property
    def synthetic(self) -> str | None:
        """Such a machine in hwloc's words, if its parts are alike; None: they cannot be."""
        outer, inner = ("numa", "nodes"), ("l3", "llcs")
        if self.nodes > self.llcs:
            outer, inner = inner, outer
        levels = (("pack", "sockets"), outer, inner, ("core", "cores"), ("pu", "pus"))
        words, above = [], 1
        for word, name in levels:
            count = getattr(self, name)
            if count == 0 or count % above:
                return None
            words.append(f"{word}:{count // above}")
            above = count
        return " ".join(words)


def machine_text(topology: Topology) -> str:
    """Sockets, LLC domains, cores, PUs and nodes, and the CPU model: equal for equal machines."""
    return _text(topology, topology.pus, len(topology.node_os_indices))


def place_text(topology: Topology, usable: Collection[OsIndex]) -> str:
    """The same of these CPUs and their nodes: equal for parts of the same kind of machine that are
    of the same size, wherever they are. Without any CPU, that of the machine.
    """
    pus = [pu for pu in topology.pus if pu.os_index in usable]
    return _text(topology, pus, len({pu.node for pu in pus})) if pus else machine_text(topology)


def _text(topology: Topology, pus: Sequence[PU], nodes: int) -> str:
    counts = (
        len({pu.package for pu in pus}),
        len({pu.llc for pu in pus}),
        len({pu.core for pu in pus}),
        len(pus),
        nodes,
    )
    shape = " ".join(f"{name}:{count}" for name, count in zip(_COUNTS, counts, strict=True))
    return f"{shape} {topology.model or 'unknown CPU'}"


def read_machine_text(text: str) -> MachineKind | None:
    """The machine that a text of `machine_text` describes; None for any other text."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    sockets, llcs, cores, pus, nodes = map(int, found.groups()[:-1])
    return MachineKind(sockets, llcs, cores, pus, nodes, found[6])
