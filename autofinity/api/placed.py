"""GETAFFINITY: the CPUs where a hint puts threads on a machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from autofinity.api.arguments import count_of, cpu_numbers_of
from autofinity.api.hints import as_hint
from autofinity.api.machines import WIDTH, Machine, as_machine
from autofinity.model.affinity import Affinity, Hint
from autofinity.model.topology import OsIndex


@dataclass(frozen=True, slots=True)
class PlacedThreads:
    """Threads on the CPUs that match a hint best. Notebooks show them on the machine.

    * `machine`: the machine of the CPUs.
    * `hint`: the hint that was matched.
    * `affinity`: threads in each LLC of each socket, up to isomorphism: `str` gives `{6,2}`.
    * `cpus`: the kernel's number of each thread's CPU, in thread order.

    >>> placed = af.get_affinity("opteron-6164he", 8, "packed")
    >>> str(placed.affinity), placed.command("taskset")
    ('{6,2}', 'taskset -c 0-7')
    """

    machine: Machine = field(repr=False)
    hint: Hint
    affinity: Affinity
    cpus: tuple[int, ...]

    def command(self, tool: str) -> str:
        """Words before a program on a command line that put its threads on these CPUs; of some
        tools the content of a file.

        `tool` is `taskset`, `numactl`, `omp`, `likwid`, `srun` … (`autofinity hints --as list`
        lists all). Raises `AutofinityError` for an unknown tool, and for one that cannot express
        the CPUs.
        """
        from autofinity.workflow.launcher_texts import text_of

        return text_of(tool, [OsIndex(cpu) for cpu in self.cpus], self.machine.topology)

    def __str__(self) -> str:
        from autofinity.report.picture import draw

        cpus = [OsIndex(cpu) for cpu in self.cpus]
        return f"{self._said()}\n{draw(self.machine.topology, WIDTH, cpus).plain.rstrip()}"

    def _repr_html_(self) -> str:
        from autofinity.report.machine_drawing import OnMachine, machine_svg

        cpus = [OsIndex(cpu) for cpu in self.cpus]
        return machine_svg(self.machine.topology, OnMachine.seated(cpus), lines=[self._said()])

    def _said(self) -> str:
        return (
            f"{self.machine.name}: {len(self.cpus)} threads as {self.affinity}, {self.hint.shown}"
        )


def get_affinity(
    machine: Machine | str,
    threads: int,
    hint: Hint | str = "spread",
    available: Iterable[int] | None = None,
    near: str | None = None,
) -> PlacedThreads:
    """The best match of a hint, by its name or letters, for `threads` threads.

    `available` are the kernel's numbers of the CPUs to choose from, by default all allowed ones.
    `near` is a device (`gpu0`, `eth0`, a PCI address) whose nodes are preferred, in the same
    affinity; a device whose node is not known changes nothing. Raises `AutofinityError` for an
    unknown machine, hint, CPU or device, and for more threads than CPUs.

    >>> af.get_affinity("opteron-6164he", 4, "packed").cpus
    (0, 1, 2, 3)
    >>> af.get_affinity("opteron-6164he", 2, "slp", available=[7, 8, 9]).cpus
    (7, 8)
    """
    from autofinity.affinity.hints import get_affinity as best_match
    from autofinity.workflow.devices import near_device

    on = as_machine(machine)
    among = None if available is None else frozenset(cpu_numbers_of(available, "available"))
    nodes = near_device(on.topology, on.name, near).nodes
    found = best_match(on.topology, count_of(threads, "threads"), as_hint(hint), among, nodes)
    return PlacedThreads(on, as_hint(hint), found.affinity, tuple(map(int, found.cpus)))
