"""A figure of mechanisms: programs run under them on the simulated machine of its paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from autofinity.evaluation.comparison import MechanismCase
from autofinity.papers.figure import Figure
from autofinity.profiling.campaign import ReadyProgram
from autofinity.sim.machine import SimMachine
from autofinity.sim.preset import load_preset

PROGRAMS = ("prodcons", "bfs", "align", "lu", "dedup", "fluid")
"""Programs of the suite, one of each way to share."""


class Runs(Protocol):
    """Requests of a figure to its caller, who captures, runs and keeps what was run."""

    @property
    def on(self) -> str:
        """Machine, threads and inputs."""
        ...

    @property
    def threads(self) -> int:
        """Threads of each program."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of the programs."""
        ...

    def machine(self) -> SimMachine:
        """Where programs run."""
        ...

    def programs(self) -> Sequence[ReadyProgram]:
        """The programs, captured."""
        ...

    def cases(
        self,
        mechanisms: Sequence[str],
        *,
        programs: tuple[str, ...] = (),
        page_size: str | None = None,
        repeats: int | None = None,
        faults_per_page: float | None = None,
    ) -> list[MechanismCase]:
        """Runs of the operating system and these mechanisms, with the arguments in the place of the
        caller's settings.

        Names such as `lu+sor` are programs side by side. Fewer repeats stand for as much less of a
        paper's run.
        """
        ...


@dataclass(frozen=True, slots=True)
class MechanismFigure[Data](Figure[Runs, Data]):
    """One figure, and by default on what it runs."""

    machine: str = ""
    """A preset, where it is not the paper's usual one."""
    threads: int = 0
    """Threads of each program, where it is not one for each PU of the machine."""
    size: str = "tiny"
    """Size of the inputs."""
    programs: tuple[str, ...] = PROGRAMS
    """Programs of the suite."""
    repeats: int = 30
    own_input: str = ""
    """Arguments of the one program that it shows, in the place of an input of the suite."""

    @property
    def default_machine(self) -> str:
        """The preset of the machine that the paper had for it."""
        return self.machine or self.paper.machine

    @property
    def default_threads(self) -> int:
        """Threads of each program."""
        return self.threads or pus_of(self.default_machine)


def pus_of(machine: str) -> int:
    """How many threads the machine of this preset runs at once."""
    return len(load_preset(machine).topology.pus)
