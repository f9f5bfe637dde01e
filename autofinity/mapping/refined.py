"""EagerMap, refined: ours. Exchanges what is not yet in its best place.

What two parts of the machine hold (nodes, LLC domains, L2s, cores, PUs) is exchanged wherever that
makes the mapping cheaper by `autofinity.mapping.cost`, the large parts first, until no exchange on
any level does. Unlike EagerMap it also sees that some nodes are farther from each other than others.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.native import native_machine
from autofinity.model.sharing import SharingMatrix
from autofinity.model.topology import OsIndex, Topology


def refined(
    sharing: SharingMatrix, topology: Topology, available: frozenset[OsIndex]
) -> tuple[OsIndex, ...]:
    """`eagermap`, then `refine`; never costs more than `eagermap`. Raises as that does."""
    return refine(sharing, topology, eagermap(sharing, topology, available))


def refine(
    sharing: SharingMatrix, topology: Topology, cpus: Sequence[OsIndex]
) -> tuple[OsIndex, ...]:
    """The mapping `cpus` after all exchanges that pay. It keeps the PUs and costs no more.

    Raises `ValueError` where there is not one PU a thread, for unknown PUs and for what is no
    sharing matrix.
    """
    return native_machine(topology).refined(sharing.cells, cpus)
