"""Requests of figures of AutoFinity to their caller: a machine, and observations on it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from autofinity.learning.settings import LearningSettings
from autofinity.model.topology import Topology
from autofinity.reporter import SILENT, Reporter
from autofinity.store.observation_table import ObservationTable

THREADS = 8
"""Threads of the paper's runs, where it does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Read and looked up when a figure needs it."""

    machine: str
    topology: Callable[[], Topology]
    rows: Callable[[int | None], ObservationTable]
    """Those that affinities placed, with so many threads; None: all there are."""
    settings_on: Callable[[LearningSettings, Collection[str]], LearningSettings] = (
        lambda settings, counters: settings
    )
    """The settings for the machine's PMU and these observed counters
    (`workflow.machine_events`)."""
    threads: int = THREADS
    programs: tuple[str, ...] = ()
    """To show; empty: those that the figure chooses."""
    folds: int = 6
    """Groups in which programs are left out, where they are not left out one by one."""
    reporter: Reporter = SILENT

    @property
    def on(self) -> str:
        """The machine."""
        return self.machine
