"""Deriving a private stage, and whether it is right for its program and machine.

What a stage leaves out (`native/sim/private_stage.hpp`) may matter: the place that a line leaves
which an LLC takes back, races that the derivation saw come out one way. No property of a program
tells beforehand, so each stage is compared with the full stream in the best match of every hint,
where threads are as close as can be, as far apart, all but a few in one place, each with an LLC of
its own but all in one package; and in uneven affinities, where they wait for each other most.

A stage that is a little off there is far off elsewhere where a little decides much: who comes
first at a lock or a line, and so how long the others wait. Where it is not exact, the full stream
is therefore replayed once more with cores that run ahead of each other by a few clocks. What that
alone moves by more than is allowed, no stage is held to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

from autofinity._core import sim as core
from autofinity.affinity.enumerate import place
from autofinity.affinity.hints import get_affinity
from autofinity.affinity.uneven import uneven_affinities
from autofinity.model.affinity import HINTS
from autofinity.sim.native import native_machine
from autofinity.sim.replay import pus_of_streams
from autofinity.sim.spec import MachineSpec
from autofinity.sim.stage_agreement import (
    CLOCKS_AHEAD,
    ByRaces,
    Difference,
    Totals,
    counted_often,
    farthest_off,
)

MOST_USED = 0.5
"""Of what `stage_agreement` allows: other affinities are further off than those compared."""
EXACT = 0.1
"""Of the same: up to here nothing is asked of the order of races."""
MOST_STREAMS = 64
MOST_RACING = 0.55
"""Of a program's events. Steps in which threads race take longer than events of the full stream
(docs/private-stage.md has the shares of the training programs, and how fast they are)."""


@dataclass(frozen=True, slots=True)
class Racing:
    """Why a stage that may be right is no faster."""

    share: float
    """Of the program's events: those that the stage keeps since threads race in them."""

    def __str__(self) -> str:
        return f"threads race in {self.share:.0%} of its events"


def groups_of(spec: MachineSpec, pus: Sequence[int]) -> tuple[int, ...]:
    """Which streams share a core: group of each stream, numbered in order of appearance."""
    number: dict[int, int] = {}
    return tuple(number.setdefault(spec.topology.pus[pu].core, len(number)) for pu in pus)


def may_have_stage(
    spec: MachineSpec, program: core.Program, pus: Sequence[int], workers: Sequence[int]
) -> bool:
    """Whether every worker has a core of its own, on a machine and in a program with a stage."""
    return (
        spec.l2 is not None
        and spec.core_classes[0].l2_cores == 1
        and not program.has_units
        and program.streams <= MOST_STREAMS
        and len(spec.core_classes) == 1
        and len({spec.topology.pus[pus[worker]].core for worker in workers}) == len(workers)
        and groups_of(spec, pus) == groups_of(spec, next(_placements(spec, program, workers)))
    )


def stage_to_use(
    spec: MachineSpec,
    native: core.Machine,
    program: core.Program,
    workers: Sequence[int],
    seed: int,
    jobs: int = 1,
) -> tuple[core.Program | None, Difference | Racing]:
    """As `fitting_stage`; where replays would be no faster, none, and nothing is compared."""
    stage = _derived(spec, native, program, workers, seed)
    racing = Racing(stage.racing_accesses / program.steps)
    if racing.share > MOST_RACING:
        return None, racing
    return _compared(spec, native, program, stage, workers, seed, jobs)


def fitting_stage(
    spec: MachineSpec,
    native: core.Machine,
    program: core.Program,
    workers: Sequence[int],
    seed: int,
    jobs: int = 1,
) -> tuple[core.Program | None, Difference]:
    """The stage, or None where it does not agree with the full stream; and what differs most.

    Costs a derivation and, in each of `compared_placements`, a replay of both, up to `jobs` at a
    time, and one more of the full stream where the stage is not exact; the first one that is too
    far off is the last, and the same for any `jobs`. Raises `SimulationError` for a program that
    `may_have_stage` does not pass.
    """
    stage = _derived(spec, native, program, workers, seed)
    return _compared(spec, native, program, stage, workers, seed, jobs)


def _derived(
    spec: MachineSpec,
    native: core.Machine,
    program: core.Program,
    workers: Sequence[int],
    seed: int,
) -> core.Program:
    groups = groups_of(spec, next(_placements(spec, program, workers)))
    return core.derive_private_stage(native, program, first_pus(spec, groups), seed=seed)


def _compared(
    spec: MachineSpec,
    native: core.Machine,
    program: core.Program,
    stage: core.Program,
    workers: Sequence[int],
    seed: int,
    jobs: int,
) -> tuple[core.Program | None, Difference]:
    placements = compared_placements(spec, program, workers)
    wake_clocks = wake_clocks_of(spec, len(workers))
    ahead = native_machine(spec, CLOCKS_AHEAD / spec.ghz)
    worst: Difference | None = None
    replays = _replayed(native, program, stage, placements, seed, jobs)
    for pus, (full, staged) in zip(placements, replays, strict=True):
        found = _worst(full, staged, wake_clocks)
        if found.used > MOST_USED:
            return None, found
        if found.used > EXACT:
            moved = _worst(full, _totals(ahead, program, pus, seed), wake_clocks)
            if moved.used > 1:
                return None, ByRaces.of(moved)
        if worst is None or found.used > worst.used:
            worst = found
    assert worst is not None
    return stage, worst


def wake_clocks_of(spec: MachineSpec, threads: int) -> float:
    """What a wake-up of every thread takes, in clocks of all threads together."""
    return 1000 * spec.system.wake_us * spec.ghz * threads


def _worst(full: Totals, staged: Totals, wake_clocks: float) -> Difference:
    """What uses most of what is allowed: as counted, or beyond what scatters."""
    found = [farthest_off(full, staged), *counted_often(full, staged, wake_clocks)]
    return max(found, key=lambda each: each.used)


def _replayed(
    native: core.Machine,
    program: core.Program,
    stage: core.Program,
    placements: Sequence[Sequence[int]],
    seed: int,
    jobs: int,
) -> Iterator[tuple[Totals, Totals]]:
    """Counts of the full stream and from the stage of each placement, in order."""
    with ThreadPoolExecutor(jobs) as pool:
        under_way: deque[list[Future[Totals]]] = deque()
        for pus in placements:
            under_way.append(
                [pool.submit(_totals, native, each, pus, seed) for each in (program, stage)]
            )
            if len(under_way) * 2 >= jobs:
                full, staged = under_way.popleft()
                yield full.result(), staged.result()
        for full, staged in under_way:
            yield full.result(), staged.result()


def compared_placements(
    spec: MachineSpec, program: core.Program, workers: Sequence[int]
) -> list[list[int]]:
    """PU of every stream in uneven affinities and in the best match of each hint, none twice."""
    return list(map(list, dict.fromkeys(map(tuple, _placements(spec, program, workers)))))


def _placements(
    spec: MachineSpec, program: core.Program, workers: Sequence[int]
) -> Iterator[list[int]]:
    topology, threads = spec.topology, len(workers)
    uneven = (place(topology, affinity) for affinity in uneven_affinities(topology, threads))
    matches = (get_affinity(topology, threads, hint) for hint in HINTS)
    # Where most are refused first: what is not used costs fewer replays so.
    for placed in chain(uneven, matches):
        yield pus_of_streams(topology, program.streams, placed.cpus, workers)


def first_pus(spec: MachineSpec, groups: Sequence[int]) -> list[int]:
    """One PU a stream, on the machine's first cores, one a group."""
    first_pu: dict[int, int] = {}
    for index, pu in enumerate(spec.topology.pus):
        first_pu.setdefault(pu.core, index)
    cores = list(first_pu.values())
    return [cores[group] for group in groups]


def _totals(native: core.Machine, program: core.Program, pus: Sequence[int], seed: int) -> Totals:
    simulation = core.Simulation(native, program, pus, seed=seed)
    simulation.run()
    return simulation.totals()
