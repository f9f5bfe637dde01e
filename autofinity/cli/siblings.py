"""The note on threads that share cores, printed for hints that were asked for."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.affinity.siblings import siblings_note
from autofinity.cli.printer import complain
from autofinity.model.affinity import Hint
from autofinity.model.topology import OsIndex, Topology


def tell_of_siblings(
    topology: Topology,
    hint: Hint,
    cpus: Sequence[OsIndex],
    available: frozenset[OsIndex] | None = None,
) -> None:
    """Print the note, if there is one, of a hint that put threads on `cpus` of those available."""
    here = topology if available is None else topology.restricted(available)
    if note := siblings_note(here, hint, cpus):
        complain(note)
