"""Machines by name, and their parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from autofinity.api.arguments import text_of_path
from autofinity.model.errors import UsageError
from autofinity.model.topology import Topology

SYNTHETIC = "synthetic:"
"""Beginning of a machine's description, which is no path."""
WIDTH = 80
"""Width of a picture in columns."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine: sockets, NUMA nodes, last-level caches, cores, CPUs. Notebooks show a picture of
    it.

    * `name`: name that `machine` was called with.
    * `topology`: all details; an internal type, which may change.

    >>> machine = af.machine("opteron-6164he")
    >>> machine.sockets, machine.nodes, len(machine.cpus)
    (4, 8, 48)
    >>> machine.distances[0][:2]
    (10, 16)
    """

    name: str
    topology: Topology = field(repr=False)

    @property
    def sockets(self) -> int:
        """Number of packages."""
        return self.topology.n_packages

    @property
    def nodes(self) -> int:
        """Number of NUMA nodes."""
        return self.topology.n_nodes

    @property
    def llcs(self) -> int:
        """Number of last-level caches."""
        return self.topology.n_llcs

    @property
    def cores(self) -> int:
        """Number of cores."""
        return self.topology.n_cores

    @property
    def cpus(self) -> tuple[int, ...]:
        """The kernel's numbers of the CPUs (hardware threads) that may be used, ascending."""
        return tuple(sorted(self.topology.allowed))

    @property
    def distances(self) -> tuple[tuple[int, ...], ...]:
        """SLIT distances, [nodes][nodes]: 10 is local."""
        return tuple(map(tuple, self.topology.distances))

    def __str__(self) -> str:
        from autofinity.report.picture import draw, summary

        lines = [self.name, *summary(self.topology), draw(self.topology, WIDTH).plain.rstrip()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from autofinity.report.machine_drawing import machine_svg
        from autofinity.report.picture import summary

        return machine_svg(self.topology, lines=[self.name, *summary(self.topology)])


def machines() -> tuple[str, ...]:
    """Names of the known machines, each with a file in data/machines, sorted.

    >>> "xeon-8480" in af.machines()
    True
    """
    from autofinity.sim.preset import preset_names

    return preset_names()


def machine(name: Path | str = "host") -> Machine:
    """The machine called `name`: `host` (the present machine), one of `machines()`, a machine file
    (`.toml`), an hwloc XML file, or `synthetic:` and a description such as `pack:2 numa:1 l3:1
    core:4 pu:1`.

    Raises `AutofinityError` for a name that is none of these and for a machine that cannot be read.

    >>> af.machine("synthetic:pack:2 numa:1 l3:1 core:2 pu:1").cores
    4
    """
    from autofinity.workflow.backends import machine_topology

    name = name_of(name)
    return Machine(name, machine_topology(name))


def as_machine(one: Machine | str) -> Machine:
    """The given machine, or the machine of this name."""
    return one if isinstance(one, Machine) else machine(name_of(one))


def name_of(one: Machine | Path | str) -> str:
    """Name of a machine, for functions of `workflow` that take names. Raises `UsageError`."""
    if isinstance(one, Machine):
        return one.name
    if isinstance(one, str) and one.startswith(SYNTHETIC):
        return one
    if not isinstance(one, Path | str) or not str(one):
        raise UsageError(f"machine is {one!r:.60}; expected a machine, or its name (`machines`)")
    return text_of_path(one, "machine")
