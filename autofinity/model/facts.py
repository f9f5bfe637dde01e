"""Facts of a machine that rules may look at beside counters: what its caches and the paths around
them carry, put so that a program's counts a clock can be held against them.

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
"""Thread count → value of each of `FACTS` on some machine; none where nothing is known."""


def no_facts(threads: int) -> Mapping[str, float]:
    """Of a machine that nobody knows."""
    del threads
    return {}


@dataclass(frozen=True, slots=True)
class Speeds:
    """What no topology says of a machine; NaN where nobody knows."""

    ghz: float = math.nan
    """Clock that counted cycles run at."""
    llc_path_gbs: float = math.nan
    """Bytes from memory that one LLC domain can read, 10^9 a second; infinite where only the
    memory limits."""
    node_gbs: float = math.nan
    """Bytes that the memory of one NUMA node gives, 10^9 a second; infinite: without limit."""
    same_llc_ns: float = math.nan
    """Of a load that another core of the LLC domain answers."""
    far_llc_ns: float = math.nan
    """Of a load that a core of the farthest LLC domain answers."""


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
"""Every fact, with its meaning. Only ratios of counts over a fact are rules made of: facts by
themselves (sizes, how full the machine is) tell one machine from another, and learning remembers
which was which (docs/any-machine.md).
"""


def facts_of(topology: Topology, speeds: Speeds, threads: int) -> dict[str, float]:
    """Each of `FACTS` for so many threads on the whole machine; NaN what is not known.

    Parts of a machine that are not alike count as their mean.
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
    """10^9 bytes a second that so many LLC domains read from so many nodes."""
    return min(llcs * speeds.llc_path_gbs, nodes * speeds.node_gbs)


def _finite(value: float) -> float:
    """NaN for what nothing limits: nothing can be held against it."""
    return value if math.isfinite(value) else math.nan
