"""Counts of threads, or CPUs, at which the same work is done for a curve."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.model.errors import UsageError
from autofinity.model.topology import Topology


def usual_counts(topology: Topology) -> tuple[int, ...]:
    """A quarter, half and all of the cores that may be used, and all CPUs."""
    usable = [pu for pu in topology.pus if pu.os_index in topology.allowed]
    cores = len({pu.core for pu in usable})
    return tuple(sorted({max(1, cores // 4), max(1, cores // 2), cores, len(usable)}))


def checked_counts(counts: Sequence[int], topology: Topology) -> tuple[int, ...]:
    """Ascending, each once. Raises `UsageError` for more than there are CPUs."""
    usable = len(topology.allowed)
    many = [count for count in counts if count > usable]
    if many:
        raise UsageError(
            f"--curve: got {', '.join(map(str, many))} on {topology.name or 'this machine'}, of "
            f"which {usable} CPUs may be used; expected no more than these"
        )
    return tuple(sorted(set(counts)))
