"""Makes observations to learn from out of recorded runs (the behaviour database).

A run is sampled in the spread affinity, for a second look in another, and once more in the
chosen affinity: up to three rows of one run. The rows stand for sample periods of a region of
interest that a live program does not mark:

* performance: instructions a second and thread, of elapsed time (the paper's "instructions per
  second"; proportional to the simulator's instructions per elapsed cycle),
* time of the region: the time of 10⁹ instructions a thread at that rate,
* seed: the number of the run, so that only rows of the same run are compared with each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.model.counters import Behaviour
from autofinity.model.observation import Observation
from autofinity.store.behaviour_rows import LiveObservation

_WORK = 1e9  # instructions a thread
_FEWEST = 2  # programs, and affinities of each


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """Observations for learning, and the numbers of unusable rows."""

    observations: tuple[Observation, ...]
    without_counters: int = 0
    """Number of rows without instructions: no hardware counters were available."""
    other_counters: int = 0
    """Number of rows that lack a counter of the policy (an older policy had other counters)."""
    other_machine: int = 0
    """Number of rows of another machine that shares this home folder."""

    @property
    def too_few(self) -> str:
        """Reason why these observations are not enough to learn from; empty when they are.

        Two programs are needed, each in two affinities: with fewer there is nothing to compare, or
        nothing to distinguish.
        """
        affinities: dict[tuple[str, int], set[str]] = {}
        for row in self.observations:
            affinities.setdefault((row.program, row.threads), set()).add(str(row.affinity))
        programs = {name for (name, _), seen in affinities.items() if len(seen) >= _FEWEST}
        if len(programs) >= _FEWEST:
            return ""
        return (
            f"{len(self.observations)} learnable rows, {len(programs)} programs in two affinities "
            f"or more, expected {_FEWEST}"
        )

    @property
    def left_out(self) -> str:
        """Rows that cannot be learned from, in words; empty when there are none."""
        parts = (
            (self.without_counters, "without hardware counters"),
            (self.other_counters, "without a counter that the policy asks for"),
            (self.other_machine, "of another machine"),
        )
        said = ", ".join(f"{count} {what}" for count, what in parts if count)
        return f"rows left out: {said}" if said else ""


def own_runs(
    rows: Sequence[LiveObservation],
    counters: Sequence[str],
    machine: str,
    name: str,
    version: str,
) -> OwnRuns:
    """Observations from the rows of `machine` that hold all `counters`; their machine is `name`."""
    found: list[Observation] = []
    repeats: dict[tuple[int, int, str], int] = {}
    without = other = elsewhere = 0
    for row in rows:
        rate = row.sample.get("instructions", math.nan)
        if row.machine != machine:
            elsewhere += 1
        elif not (math.isfinite(rate) and rate > 0):
            without += 1
        elif any(not math.isfinite(row.sample.get(counter, math.nan)) for counter in counters):
            other += 1
        else:
            # A run that was sampled twice in one affinity has two sample periods there.
            place = (row.run, row.threads, str(row.affinity))
            index = repeats[place] = repeats.get(place, -1) + 1
            found.append(_observation(row, rate, index, name, version))
    return OwnRuns(tuple(found), without, other, elsewhere)


def _observation(
    row: LiveObservation, rate: float, index: int, name: str, version: str
) -> Observation:
    return Observation(
        program=row.program[:16],
        input="live",
        threads=row.threads,
        affinity=row.affinity,
        sample=index,
        progress=math.nan,
        behaviour=Behaviour(row.sample),
        performance=rate,
        roi_s=_WORK / rate,
        machine=name,
        backend="linux",
        seed=row.run,
        version=version,
    )
