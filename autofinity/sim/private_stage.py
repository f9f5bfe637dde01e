"""Private stages at hand: derived once, for every placement and every later sweep.

    program ──stage_to_use, once per page-colour seed──► stage, or none ──► every affinity
                                                            │
                            verdict, beside the trace ◄─────┴─────► kept in memory

A stage holds what leaves the cores' own caches. It takes 16 bytes a step, like the program it is
made from, and 8 more where others decide what a step means.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autofinity._core import sim as core
from autofinity.model.errors import SimulationError
from autofinity.sim.spec import MachineSpec
from autofinity.sim.stage_agreement import ByRaces, Difference
from autofinity.sim.stage_fitting import (
    Racing,
    first_pus,
    groups_of,
    may_have_stage,
    stage_to_use,
)
from autofinity.sim.stage_store import StoredVerdict, key_of, read_verdict, write_verdict

MOST_STAGES = 4
"""Kept at once: one a page-colour seed of the program under way."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the stage of a program is used; how far off it was, or why it was not compared."""

    program: str
    used: bool
    worst: Difference | Racing

    def __str__(self) -> str:
        if self.used:
            return f"{self.program}: replays start from its private stage"
        match self.worst:
            case Racing():
                why = f"its private stage saves nothing, for {self.worst}"
            case ByRaces():
                why = (
                    "its private stage is not exact, and who comes first in races alone makes "
                    f"{self.worst}"
                )
            case _:
                why = f"its private stage gives {self.worst}"
        return f"{self.program}: every access is replayed, {why}"


class PrivateStages:
    """Stages of the latest program, derived when first asked for. Safe to use from many threads.

    Those that ask meanwhile wait, so that up to `jobs` replays may compare a stage at a time.
    """

    def __init__(self, spec: MachineSpec, native: core.Machine, jobs: int = 1) -> None:
        self._spec = spec
        self._native = native
        self._jobs = jobs
        self._lock = threading.Lock()
        self._program: core.Program | None = None
        self._stages: OrderedDict[tuple[tuple[int, ...], int], core.Program | None] = OrderedDict()
        self._verdicts: list[Verdict] = []

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """Of the stages so far, in order."""
        with self._lock:
            return tuple(self._verdicts)

    def stage_of(
        self,
        trace: Path,
        program: core.Program,
        pus: Sequence[int],
        workers: Sequence[int],
        seed: int,
    ) -> core.Program | None:
        """The stage to replay instead of `program`, or None where the full stream is needed.

        The same for every placement in which the same streams share cores: what is derived does
        not depend on who asks first. `trace` is the folder of the program, where stages are kept.
        """
        if not may_have_stage(self._spec, program, pus, workers):
            return None
        groups = groups_of(self._spec, pus)
        with self._lock:
            if self._program is not program:
                self._stages.clear()
                self._program = program
            if (groups, seed) not in self._stages:
                while len(self._stages) >= MOST_STAGES:
                    self._stages.popitem(last=False)
                key = key_of(trace, self._spec, groups, seed)
                stage, worst = self._kept(trace, key, program, groups, seed) or self._made(
                    trace, key, program, workers, seed
                )
                self._stages[groups, seed] = stage
                self._verdicts.append(Verdict(trace.name, stage is not None, worst))
            self._stages.move_to_end((groups, seed))
            return self._stages[groups, seed]

    def _kept(
        self,
        trace: Path,
        key: bytes | None,
        program: core.Program,
        groups: tuple[int, ...],
        seed: int,
    ) -> tuple[core.Program | None, Difference | Racing] | None:
        """What an earlier sweep found out about it: derived again, but not compared."""
        stored = None if key is None else read_verdict(trace, key)
        if stored is None:
            return None
        if stored.races is None:
            return None, stored.worst
        try:
            stage = core.derive_private_stage(
                self._native,
                program,
                first_pus(self._spec, groups),
                seed=seed,
                races=stored.races,
            )
        except SimulationError:
            return None  # a file that somebody sealed anew
        return stage, stored.worst

    def _made(
        self,
        trace: Path,
        key: bytes | None,
        program: core.Program,
        workers: Sequence[int],
        seed: int,
    ) -> tuple[core.Program | None, Difference | Racing]:
        stage, worst = stage_to_use(self._spec, self._native, program, workers, seed, self._jobs)
        if key is not None:
            write_verdict(trace, key, StoredVerdict(worst, None if stage is None else stage.races))
        return stage, worst
