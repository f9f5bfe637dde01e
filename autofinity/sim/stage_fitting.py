"""Deriving a private stage, and whether it is right for its program and machine.

What a stage leaves out (`native/sim/private_stage.hpp`) may matter: lines that an LLC takes back,
races that the derivation saw come out one way. No property of a program tells beforehand, so each
stage is compared with the full stream where placements differ most: threads as close as can be, as
far apart, all but a few in one place, and each with an LLC of its own but all in one package.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from autofinity._core import sim as core
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.sim.replay import pus_of_streams
from autofinity.sim.spec import MachineSpec
from autofinity.sim.stage_agreement import Difference, Totals, farthest_off

COMPARED = tuple(map(Hint.parse, ("slp", "SLP", "SlP", "sLP")))
MOST_USED = 0.5
"""Of what `stage_agreement` allows, where it is compared: other affinities may be further off."""
MOST_STREAMS = 64


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
        and groups_of(spec, pus) == groups_of(spec, compared_placements(spec, program, workers)[0])
    )


def fitting_stage(
    spec: MachineSpec,
    native: core.Machine,
    program: core.Program,
    workers: Sequence[int],
    seed: int,
    jobs: int = 1,
) -> tuple[core.Program | None, Difference]:
    """The stage, or None where it does not agree with the full stream; and what differs most.

    Costs a derivation and, in each affinity of `COMPARED`, a replay of both, up to `jobs` at a
    time; the first affinity that is too far off is the last, and the same for any `jobs`. Raises
    `SimulationError` for a program that `may_have_stage` does not pass.
    """
    placements = compared_placements(spec, program, workers)
    stage = core.derive_private_stage(
        native, program, first_pus(spec, groups_of(spec, placements[0])), seed=seed
    )
    worst: Difference | None = None
    for found in _farthest_off(native, program, stage, placements, seed, jobs):
        if worst is None or found.used > worst.used:
            worst = found
        if worst.used > MOST_USED:
            return None, worst
    assert worst is not None
    return stage, worst


def _farthest_off(
    native: core.Machine,
    program: core.Program,
    stage: core.Program,
    placements: Sequence[Sequence[int]],
    seed: int,
    jobs: int,
) -> Iterator[Difference]:
    """Of each placement, in order."""
    with ThreadPoolExecutor(jobs) as pool:
        under_way: deque[list[Future[Totals]]] = deque()
        for pus in placements:
            under_way.append(
                [pool.submit(_totals, native, each, pus, seed) for each in (program, stage)]
            )
            if len(under_way) * 2 >= jobs:
                yield farthest_off(*(totals.result() for totals in under_way.popleft()))
        for pair in under_way:
            yield farthest_off(*(totals.result() for totals in pair))


def compared_placements(
    spec: MachineSpec, program: core.Program, workers: Sequence[int]
) -> list[list[int]]:
    """PU of every stream in each affinity of `COMPARED`, without repetition."""
    placements = (
        pus_of_streams(
            spec.topology,
            program.streams,
            get_affinity(spec.topology, len(workers), hint).cpus,
            workers,
        )
        for hint in COMPARED
    )
    return list(map(list, dict.fromkeys(map(tuple, placements))))


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
