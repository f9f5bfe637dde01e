"""Mappings that stay as they begin: the baselines.

- `os`: the operating system's scheduler, pages on first touch.
- `packed`, `spread`: the best match of the hints slp and SLP (Moore & Childers, section 2).
- `compact`: threads by id on neighbouring PUs, SMT siblings first (kMAF'16, section 5.3).
- `neighbours`: threads 0 and 1, 2 and 3, … together, as `tlb` places partners: the static mapping
  for the first phase of producers and consumers (TLB paper, section 2).
- `random`: threads on PUs and pages on nodes at random, by seed (kMAF'14, section 4).
- `random-threads`: threads alone, pages on first touch (TLB paper, section 6.4).
- `interleave`: the operating system's scheduler, pages in turn on all nodes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import cycle, islice

from autofinity.affinity.hints import get_affinity
from autofinity.mapping.edmonds import edmonds
from autofinity.mechanisms.recipe import Setting, Start
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.placement import PagePlacement
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, Interval, Sensors
from autofinity.profiling.placements import bound, compact_cpus, random_cpus


class Static:
    """Does nothing after the start."""

    sensors = Sensors()

    def __init__(self, name: str, setting: Setting, start: Start) -> None:
        self.name = name
        self.start = start
        self._period_ns = setting.ns(1000)

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> None:
        """Nothing to remember."""

    def period_ns(self, state: None) -> int:
        """Any will do."""
        return self._period_ns

    def step(self, state: None, interval: Interval) -> tuple[None, Sequence[Action]]:
        """Leave everything as it is."""
        return None, ()


def operating_system(setting: Setting) -> Static:
    """`os`: what everything is compared with."""
    return Static("os", setting, Start())


def packed(setting: Setting) -> Static:
    """`packed`: the best match of slp."""
    return hinted("packed", setting, PACKED)


def spread(setting: Setting) -> Static:
    """`spread`: the best match of SLP."""
    return hinted("spread", setting, SPREAD)


def hinted(name: str, setting: Setting, hint: Hint) -> Static:
    """The best match of a hint, from the start."""
    cores = get_affinity(setting.topology, setting.placed, hint)
    return Static(name, setting, Start(setting.seated(cores.cpus)))


def compact(setting: Setting) -> Static:
    """`compact`: thread i on the i-th PU of the machine.

    Programs side by side with more threads than the machine has PUs begin again with the first PU,
    as each does that is mapped by itself.
    """
    topology = setting.topology
    first = compact_cpus(topology, min(setting.placed, len(topology.allowed)))
    cpus = tuple(islice(cycle(first), setting.placed))
    return Static("compact", setting, Start(setting.seated(cpus)))


def neighbours(setting: Setting) -> Static:
    """`neighbours`: Edmonds' matching of the pairs."""
    threads, topology = range(setting.threads), setting.topology
    pairs = SharingMatrix(tuple(tuple(float(i ^ 1 == j) for j in threads) for i in threads))
    cpus = edmonds(pairs, topology, topology.allowed)
    return Static("neighbours", setting, Start(bound(cpus)))


def random_threads(setting: Setting) -> Static:
    """`random-threads`: distinct PUs."""
    cpus = random_cpus(setting.topology, setting.placed, setting.seed)
    return Static("random-threads", setting, Start(setting.seated(cpus)))


def random_mapping(setting: Setting) -> Static:
    """`random`: threads and pages. The trace has the list of pages."""
    threads = random_threads(setting).start.placement
    homes = sorted(set(range(setting.topology.n_nodes)) - setting.topology.memoryless_nodes)
    draw = random.Random(setting.seed)
    trace = setting.known_trace()
    nodes = {page: draw.choice(homes) for page in sorted(trace.accesses)}
    return Static("random", setting, Start(threads, trace.placed(nodes)))


def interleave(setting: Setting) -> Static:
    """`interleave`: pages in turn on all nodes, as `numactl --interleave=all` does."""
    return Static("interleave", setting, Start(pages=PagePlacement("interleave")))
