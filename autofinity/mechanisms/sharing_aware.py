"""The skeleton of the mapping mechanisms: a detector, a thread mapper every so often, a rule for
each sampled page.

    interval.sharing ─► matrix (aged) ─► mapper ─► threads, and the mapper's own time
    interval.pages ───► rule for each page (its NUMA vector, its node) ─► pages

The published mechanisms differ in what they put in; each has a file that says what, from which
section of which paper.

Deviations of all: a kernel decides on a page within the fault that shows it, we at the end of the
period it happened in, which is one of the mapper's. In a run that is shorter than what it stands
for a mapping is charged in proportion (`Setting.mapping_charge_ns`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import add

from autofinity.mapping.cost import cost
from autofinity.mapping.mapper import Map
from autofinity.mapping.pages import PageRule, moves
from autofinity.mechanisms.recipe import UNMANAGED, Setting, Start
from autofinity.model.detection import Detector
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, BindThreads, Interval, MovePages, Sensors, SpendTime
from autofinity.profiling.placements import bound

type PageMapper = Callable[[NumaVectors], tuple[tuple[int, int], ...]]
"""(page number, node) of the pages that are to be elsewhere."""


@dataclass(frozen=True, slots=True)
class Known:
    """Observations and actions so far."""

    matrix: SharingMatrix
    cpus: tuple[OsIndex, ...] = ()
    """Where the threads were put; empty until the first mapping."""
    mapped: SharingMatrix | None = None
    """The matrix that `cpus` come from."""
    mappings: int = 0


def unaged(matrix: SharingMatrix) -> SharingMatrix:
    """All that was ever seen counts alike."""
    return matrix


@dataclass(frozen=True, slots=True)
class SharingAware:
    """A mechanism made of parts."""

    name: str
    setting: Setting
    detectors: tuple[Detector, ...]
    mapper: Map | None = None
    """None: threads stay with the operating system."""
    page_mapper: PageMapper | None = None
    """None: pages stay where they are first touched."""
    period_ms: float = 100
    """Period in milliseconds of a paper's run."""
    age: Callable[[SharingMatrix], SharingMatrix] = unaged
    """The matrix that is left after each mapping."""
    only_if_cheaper: bool = False
    """Threads stay where they are unless the mapper's seats cost less by the matrix."""
    threads_first: bool = False
    """No page moves before the threads were mapped once."""
    start: Start = UNMANAGED

    @property
    def sensors(self) -> Sensors:
        """The detectors."""
        return Sensors(detectors=self.detectors)

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> Known:
        """Nobody is known to share anything."""
        return Known(nothing(threads))

    def period_ns(self, state: Known) -> int:
        """From mapping to mapping, whatever a mapping takes."""
        return self.setting.ns(self.period_ms)

    def step(self, state: Known, interval: Interval) -> tuple[Known, Sequence[Action]]:
        """Map threads by all that was seen, then the pages seen in this interval."""
        state = replace(state, matrix=added(state.matrix, interval.sharing))
        actions: list[Action] = []
        if self.mapper is not None:
            state, actions = self._map_threads(state, self.mapper)
        if self.page_mapper is not None and (state.cpus or not self.threads_first):
            actions += sent(interval.pages, self.page_mapper, self.setting.threads)
        return state, actions

    def _map_threads(self, state: Known, mapper: Map) -> tuple[Known, list[Action]]:
        """A matrix that was mapped already is not mapped again, and charged all the same."""
        matrix, setting = state.matrix, self.setting
        if not any(map(any, matrix.cells)):
            return state, []
        topology = setting.topology
        known = matrix is state.mapped
        cpus = state.cpus if known else mapper(matrix, topology, topology.allowed)
        if self.only_if_cheaper and state.cpus and cpus != state.cpus:
            cheaper = cost(matrix, topology, cpus) < cost(matrix, topology, state.cpus)
            cpus = cpus if cheaper else state.cpus
        by_turns = state.mappings % setting.threads
        charge_ns = setting.mapping_charge_ns(state.mappings)
        actions: list[Action] = [SpendTime("mapping", charge_ns, by_turns)]
        if cpus != state.cpus:
            actions.append(BindThreads(bound(cpus)))
        state = replace(
            state,
            matrix=self.age(matrix),
            cpus=cpus,
            mapped=matrix,
            mappings=state.mappings + 1,
        )
        return state, actions


def by(rule: PageRule) -> PageMapper:
    """Every page by itself."""
    return lambda pages: moves(pages, rule)


def sent(pages: NumaVectors | None, mapper: PageMapper, threads: int) -> list[Action]:
    """The moves a mapper wants of the pages seen. Each thread copies its share of them, as the
    threads that fault do.
    """
    wanted = mapper(pages) if pages is not None else ()
    shares = (wanted[thread::threads] for thread in range(threads))
    return [
        MovePages(
            tuple(page for page, _ in share),
            tuple(node for _, node in share),
            thread,
        )
        for thread, share in enumerate(shares)
        if share
    ]


def nothing(threads: int) -> SharingMatrix:
    """A matrix of zeros."""
    return SharingMatrix(((0.0,) * threads,) * threads)


def added(matrix: SharingMatrix, more: SharingMatrix | None) -> SharingMatrix:
    """Cell by cell; `matrix` itself where there is nothing to add, as in most short looks."""
    if more is None or not any(map(any, more.cells)):
        return matrix
    return SharingMatrix(
        tuple(
            tuple(map(add, row, other)) if any(other) else row
            for row, other in zip(matrix.cells, more.cells, strict=True)
        )
    )


def scaled(matrix: SharingMatrix, factor: float) -> SharingMatrix:
    """Every cell times `factor`."""
    if factor == 1.0:
        return matrix
    return SharingMatrix(tuple(tuple(map(factor.__mul__, row)) for row in matrix.cells))
