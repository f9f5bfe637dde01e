"""Speeds of memory, caches and the paths between them from a machine file, in the form that rules
need.
"""

from __future__ import annotations

import functools
import math

from autofinity.model.facts import FactsOf, Speeds, facts_of
from autofinity.sim.spec import ByDistance, MachineSpec


def speeds_of(spec: MachineSpec) -> Speeds:
    """Speeds of a simulated machine. Cores of a hybrid machine count as its first class."""
    latency, bandwidth = spec.latency, spec.bandwidth
    homes = [bandwidth.memory_gbs[node] for node in spec.home_nodes]
    return Speeds(
        ghz=spec.ghz,
        llc_path_gbs=bandwidth.fabric_gbs or math.inf,
        node_gbs=sum(homes) / len(homes) or math.inf,
        same_llc_ns=latency.load_modified[0],
        far_llc_ns=_farthest(latency.load_modified, spec.llc_distance),
    )


def facts_of_machine(spec: MachineSpec) -> FactsOf:
    """Thread count → facts of a simulated machine."""
    return functools.partial(facts_of, spec.topology, speeds_of(spec))


def _farthest(values: ByDistance, distance: tuple[tuple[int, ...], ...]) -> float:
    return values[max(map(max, distance))]
