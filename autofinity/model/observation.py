"""One sample period of one program in one affinity: the unit that is stored and learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from autofinity.model.affinity import Affinity
from autofinity.model.counters import Behaviour

type PlacedBy = Literal["affinity", "switched", "probed", "os", "compact", "random"]
"""Origin of the cores: an affinity (`affinity`); an affinity that replaced the spread one
after the first sample periods (`switched`); the same, after some more periods where a second look
is taken (`probed`); the operating system's scheduler, which moves threads during the run (`os`);
neighbouring threads on neighbouring PUs (`compact`); a random sample (`random`)."""


class Workload(NamedTuple):
    """A program with an input and a thread count."""

    program: str
    input: str
    threads: int


@dataclass(frozen=True, slots=True)
class Observation:
    """Row of the observations store (one Parquet row; behaviour as one column for each counter)."""

    program: str
    input: str
    threads: int
    affinity: Affinity
    sample: int
    """Index of the sample period within the region of interest, from 0."""
    progress: float
    """Share of the ROI's useful work done at the middle of the period, 0…1. In the simulator
    periods of different affinities are matched by `progress`; on Linux by elapsed time."""
    behaviour: Behaviour
    performance: float
    """The metric, larger is better: instructions per cycle and thread by default."""
    roi_s: float
    """Time of the whole region of interest in this affinity, seconds."""
    machine: str
    backend: str
    """`sim`, `linux` or `replay`."""
    seed: int
    version: str
    energy_j: float | None = None
    """Joules of the whole machine in the whole region of interest (like `roi_s`, the same in every
    row of a run); None where no energy was measured."""
    placement: PlacedBy = "affinity"
    """Learning uses only runs that an affinity placed; the others are its baselines. Their
    `affinity` is the class of the cores that they had at the end; `UNPLACED` under `os`."""
