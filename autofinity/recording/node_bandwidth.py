"""Bandwidth that some cores get from a node's memory: all read buffers, which together are larger
than their caches.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity._core import measure
from autofinity.free_memory import free_bytes_of_node
from autofinity.model.topology import PU, Topology
from autofinity.recording.bench import Bench
from autofinity.recording.bound_node import node_to_bind

_LEAST_BYTES = 4 << 20
_MOST_READERS = 64


def read_gbs(
    topology: Topology, pus: Sequence[PU], memory: int, bench: Bench, rounds: int
) -> list[float]:
    """GB/s in each round that these PUs, each of a core of its own, read from the logical node
    `memory`; none where there is too little memory to show them.

    Raises `OSError` where memory cannot be bound, or a PU cannot be used.
    """
    readers = some_readers(pus)
    each = bytes_each(topology, readers, memory, bench)
    if each is None:
        return []
    cpus = [pu.os_index for pu in readers]
    return measure.read_gbs(cpus, node_to_bind(topology, memory), each, rounds)


def some_readers(pus: Sequence[PU]) -> Sequence[PU]:
    """At most 64 of these PUs, which are in logical order, from all their caches alike."""
    return pus[:: -(-len(pus) // _MOST_READERS) or 1]


def bytes_each(topology: Topology, readers: Sequence[PU], memory: int, bench: Bench) -> int | None:
    """Bytes that each reader reads of the memory of the logical node `memory`.

    None where there is too little free memory: the readers' caches would hold half of the buffers.
    """
    held = held_bytes(topology, readers)
    size = bench.beyond(held)
    free = free_bytes_of_node(topology.node_os_indices[memory])
    if free is not None:
        size = min(size, free // 2)  # memory that is bound to a full node ends processes
    return None if size < 2 * held else max(_LEAST_BYTES, size // len(readers))


def held_bytes(topology: Topology, pus: Sequence[PU]) -> int:
    """Bytes that the caches of these PUs hold together; 0 where caches are unknown.

    An LLC may hold what the caches before it do not: their sizes are added.
    """
    cores = len({pu.core for pu in pus})
    before = sum(
        cache.size_bytes * -(-cores // max(1, cache.shared_by_cores))
        for cache in topology.caches[:-1]
    )
    return before + topology.llc_bytes * len({pu.llc for pu in pus})
