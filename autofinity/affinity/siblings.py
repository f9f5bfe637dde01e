"""A note on a core set in which threads share cores, which a user may not have meant by a hint."""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.topology import OsIndex, Topology


def siblings_note(topology: Topology, hint: Hint, cpus: Sequence[OsIndex]) -> str:
    """A line of text where `hint` has put several threads of `cpus` on a core, else empty.

    With as many threads as cores, or more, hints that pack take siblings first.
    """
    distinct = set(cpus)
    used = len({topology.by_os_index[cpu].core for cpu in distinct})
    if used == len(distinct):
        return ""
    cores = len({pu.core for pu in topology.pus if pu.os_index in topology.allowed})
    said = f"{hint.shown} puts {len(distinct)} threads on {_cores(used)}, several to a core"
    if used < cores:
        idle = _cores(cores - used)
        return f"{said}, and leaves {idle} idle; {SPREAD.shown} takes all cores first"
    return f"{said}: there are no more cores"


def _cores(count: int) -> str:
    return f"{count} core" if count == 1 else f"{count} cores"
