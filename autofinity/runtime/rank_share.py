"""Ranks of an MPI program, each under `run`: the CPUs of each, and who has chosen them.

A launcher that binds its ranks has decided: a rank keeps to its mask. A launcher that binds none
lets every rank use all CPUs, and ranks know nothing of each other before they have claimed cores.
So each of several ranks keeps to its share of the machine, which all work out alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.linux.bind import StartMask
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.request import Request

_UNBOUND = {
    "Open MPI": "mpirun --bind-to none",
    "MPICH": "mpiexec -bind-to none",
    "Slurm": "srun --cpu-bind=none",
}
"""Commands with which launchers bind no rank."""


@dataclass(frozen=True, slots=True)
class RankShare:
    """Where a rank may run."""

    topology: Topology
    ranks: int = 0
    """Ranks that the node is divided among; 0: the program may use all CPUs that it is allowed."""
    rank: int = 0
    one_core: bool = False
    """Whether the launcher has left one core only: there is nothing to place."""
    note: str = ""

    @property
    def divided(self) -> bool:
        """Whether the rank keeps to a share, whatever is decided."""
        return self.ranks > 0

    def of(self, allowed: frozenset[OsIndex]) -> frozenset[OsIndex]:
        """CPUs for this rank among those that are allowed now."""
        if not self.divided or not allowed:
            return allowed
        from autofinity.affinity.ranks import share_of  # only ranks have a share

        return share_of(self.topology, self.ranks, self.rank, allowed)


def rank_share(
    request: Request,
    topology: Topology,
    at_start: StartMask,
    allowed: frozenset[OsIndex],
    *,
    own_cpuset: bool,
) -> RankShare:
    """Share of a program that is `allowed` these CPUs; everything for what is no rank.

    `own_cpuset`: the launcher has put the rank into a cgroup with fewer CPUs than its own.
    """
    if not request.launcher or not allowed:
        return RankShare(topology)
    which = f"rank {request.rank} of {request.ranks} on this node ({request.launcher})"
    # Without a mask from anybody, a program may use all CPUs that are not isolated.
    everything = topology.balanced(frozenset(topology.by_os_index))
    if own_cpuset or not (at_start.by_cpuset or allowed >= everything):
        return _bound(request, topology, allowed, which)
    if request.ranks < 2 or request.ranks > len(allowed):
        return RankShare(topology)
    share = RankShare(topology, request.ranks, request.rank)
    note = f"{which}: it keeps to its share, CPUs {format_cpu_list(share.of(allowed))}"
    return RankShare(topology, request.ranks, request.rank, note=note)


def _bound(
    request: Request, topology: Topology, allowed: frozenset[OsIndex], which: str
) -> RankShare:
    """A rank that its launcher, or somebody before it, has bound."""
    one_core = len({topology.by_os_index[cpu].core for cpu in allowed}) == 1
    done = "one core, so nothing is placed" if one_core else "its threads are placed within these"
    unbound = _UNBOUND.get(request.launcher)
    instead = f"; `{unbound}` leaves the places to autofinity" if unbound else ""
    note = f"{which}: its launcher has bound it to CPUs {format_cpu_list(allowed)}: {done}{instead}"
    return RankShare(topology, one_core=one_core, note=note)
