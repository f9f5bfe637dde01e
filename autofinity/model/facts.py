"""Facts of a machine that rules may use beside counters: the capacity of its caches and of the
paths around them, in units that a program's counts per clock can be compared with.

    topology (every Linux shows it) ──┐
    speeds (a machine file, or measured) ──► facts for a thread count ──► `policy.on_machine`

A fact that is not known is NaN, and no condition on it holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autofinity.model.topology import Topology

LINE_BYTES = 64

type FactsOf = Callable[[int], Mapping[str, float]]
"""Thread count → value of each of `FACTS` on some machine; empty where nothing is known."""


def no_facts(threads: int) -> Mapping[str, float]:
    """Facts of a machine about which nothing is known."""
    del threads
    return {}


@dataclass(frozen=True, slots=True)
class Speeds:
    """Speeds of a machine that no topology gives; NaN where unknown."""

    ghz: float = math.nan
    """Clock that counted cycles run at."""
    llc_path_gbs: float = math.nan
    """Bytes from memory that one LLC domain can read, 10^9 a second; infinite where only the memory
    limits."""
    node_gbs: float = math.nan
    """Bytes that the memory of one NUMA node gives, 10^9 a second; infinite: without limit."""
    same_llc_ns: float = math.nan
    """Time of a load that another core of the LLC domain answers."""
    far_llc_ns: float = math.nan
    """Time of a load that a core of the farthest LLC domain answers."""


FACTS: Mapping[str, str] = {
    "packed_lines_pkc": (
        "lines from memory that each thread can read per 1,000 clocks when the threads are packed: "
        "what the paths of their LLCs, and the memory of their nodes, carry"
    ),
    "far_transfers_a_clock": (
        "lines a clock that would take all of a thread's time by what they take longer from the "
        "farthest LLC domain than from the own one"
    ),
}
"""Every fact, with its meaning. Rules use facts only as divisors of ratios of counts. Facts by
themselves (sizes, how full the machine is) identify a machine, and learning would remember which
machine was which (docs/any-machine.md)."""


def facts_of(topology: Topology, speeds: Speeds, threads: int) -> dict[str, float]:
    """Value of each of `FACTS` for `threads` threads on the whole machine; NaN where unknown.

    Where parts of a machine differ, their mean is used.
    """
    llcs, nodes = topology.n_llcs, len({pu.node for pu in topology.pus})
    domains = min(max(math.ceil(threads * llcs / topology.n_cores), 1), llcs)
    packed = _carried(speeds, domains, math.ceil(domains * nodes / llcs))
    longer_ns = speeds.far_llc_ns - speeds.same_llc_ns
    return {
        "packed_lines_pkc": _finite(1e3 * packed / speeds.ghz / LINE_BYTES / threads),
        "far_transfers_a_clock": 1 / (longer_ns * speeds.ghz) if longer_ns > 0 else math.nan,
    }


def _carried(speeds: Speeds, llcs: int, nodes: int) -> float:
    """Rate at which `llcs` LLC domains read from `nodes` nodes, 10^9 bytes a second."""
    return min(llcs * speeds.llc_path_gbs, nodes * speeds.node_gbs)


def _finite(value: float) -> float:
    """The value, or NaN where nothing limits it: no count can be compared with infinity."""
    return value if math.isfinite(value) else math.nan
