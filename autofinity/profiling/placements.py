"""Placement of the threads of a run: by an affinity, or by one of the baselines of policies.

| placement | cores | seed of |
|---|---|---|
| `affinity` | the nearest core set of that class | page colours |
| `switched` | the spread ones; after `SWITCH_AFTER` periods those of a class | page colours |
| `probed` | the same, but between them `SWITCH_AFTER` periods in those of `PROBE` | page colours |
| `os` | those that the operating system's scheduler chooses | its choices, page colours |
| `compact` | thread i on the i-th PU of the machine, SMT siblings in a row | page colours |
| `random` | distinct random PUs for the threads | that choice, page colours |

`switched` shows the cost for a program that is not restarted after it was sampled: its threads
migrate to cold caches, and the pages that they touched first stay where they are. `probed` adds a
second look. `compact` and `random` are static mappings that are baselines of kMAF (PACT 2014,
section 4); there, too, `os` is the kernel's scheduler with first-touch pages.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.affinity.hints import get_affinity, too_many
from autofinity.model.affinity import PACKED, SPREAD, UNPLACED, Affinity
from autofinity.model.observation import PlacedBy
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex, Topology

SEEDS: dict[PlacedBy, int] = {"os": 3, "compact": 1, "random": 3}
"""Baseline → number of its runs."""

SWITCH_AFTER = 2
"""Sample periods before a switch: one to warm up, and one to decide by."""

PROBE = PACKED
"""Hint in whose affinity policies take their second look."""


def compact_cpus(topology: Topology, threads: int) -> tuple[OsIndex, ...]:
    """The first `threads` allowed PUs in logical order. Raises `PlacementError` for too many
    threads.
    """
    return _allowed(topology, threads)[:threads]


def random_cpus(topology: Topology, threads: int, seed: int) -> tuple[OsIndex, ...]:
    """Distinct random PUs among the allowed ones, one for each thread. Raises `PlacementError` for
    too many threads.
    """
    import random  # not loaded into the monitor, which binds only

    return tuple(random.Random(seed).sample(_allowed(topology, threads), threads))


def class_of(topology: Topology, cpus: Sequence[OsIndex]) -> Affinity:
    """The affinity of threads on these PUs."""
    counts: dict[int, dict[int, int]] = {}
    for cpu in cpus:
        pu = topology.by_os_index[cpu]
        llcs = counts.setdefault(pu.package, {})
        llcs[pu.llc] = llcs.get(pu.llc, 0) + 1
    return Affinity.of([llcs.values() for llcs in counts.values()])


def baseline_affinity(topology: Topology, threads: int, placement: PlacedBy, seed: int) -> Affinity:
    """The class that the baseline `placement` gives its threads."""
    if placement == "os":
        return UNPLACED
    if placement == "compact":
        return class_of(topology, compact_cpus(topology, threads))
    return class_of(topology, random_cpus(topology, threads, seed))


def placement_of(
    topology: Topology, placement: PlacedBy, affinity: Affinity, threads: int, seed: int
) -> Placement | None:
    """Placement at the start of a run; None leaves threads to the operating system."""
    if placement == "os":
        return None
    if placement == "compact":
        cpus = compact_cpus(topology, threads)
    elif placement == "random":
        cpus = random_cpus(topology, threads, seed)
    elif placement in ("switched", "probed"):
        cpus = get_affinity(topology, threads, SPREAD).cpus
    else:
        from autofinity.affinity.enumerate import place  # as above

        cpus = place(topology, affinity).cpus
    return bound(cpus)


def bound(cpus: Sequence[OsIndex]) -> Placement:
    """Placement of every thread on a PU of its own."""
    return Placement(tuple(frozenset({cpu}) for cpu in cpus))


def shared(placement: Placement, threads: int) -> Placement:
    """The same CPUs for `threads` threads.

    Each thread has its own CPU; with more threads than the placement is for, all threads share all
    CPUs.
    """
    if threads <= len(placement.masks):
        return placement
    return Placement((frozenset[OsIndex]().union(*placement.masks),) * threads)


def _allowed(topology: Topology, threads: int) -> tuple[OsIndex, ...]:
    found = tuple(pu.os_index for pu in topology.pus if pu.os_index in topology.allowed)
    if not 1 <= threads <= len(found):
        raise too_many(topology, threads, len(found))
    return found
