"""One window of a sampled trace as a task for a pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.sim.sampled_window import Pages
from autofinity.sim.window_sum import TimedWindow

if TYPE_CHECKING:
    from autofinity.sim.machine import SimMachine


@dataclass(frozen=True, slots=True)
class WindowTask:
    """A window in one placement."""

    trace: str
    number: int
    pus: tuple[int, ...]
    """Logical PU of each stream."""
    seed: int
    pages: Pages

    @property
    def label(self) -> str:
        """Name of the window for people."""
        return f"{Path(self.trace).name} window {self.number}"

    @property
    def traces(self) -> tuple[str, ...]:
        """Folder of the sampled trace."""
        return (self.trace,)

    @property
    def hands_out(self) -> bool:
        """False: a window is replayed as a whole."""
        return False

    def work(self, machine: SimMachine, folders: Mapping[str, str]) -> TimedWindow:
        """Replay the window. Raises `TraceError`, `SimulationError`."""
        return machine.timed_window(self, folders[self.trace])
