"""The run that a simulated run under a mechanism stands for: of a minute, if no other is named.

    short run, everything in it ─► its places ─► each repeated until warm ─► counts of a repeat
              └──────────────────► operations, as many as in the minute ────────► time once
                                     those that TLB misses ask for, by the minute's misses

A compared run is a thousand times shorter than what it stands for, and makes as many mappings,
faults and moves (`mechanism_run`). So in its own time each copy of a page and each cold cache
weighs a thousand times too much. In the run that it stands for, they come once: here that run is
put together from what does not depend on the length. A region that is not repeated stands for
itself: its phases are part of what a mechanism does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autofinity.evaluation.course import Course, Followed, Place
from autofinity.evaluation.lasting import LastingProcess
from autofinity.evaluation.mechanism_run import SCORED, Counted, run_mechanism
from autofinity.mechanisms.recipe import NS_PER_S, PAGE_BYTES, Recipe
from autofinity.model.detection import Detector, TlbAccessCounters, TlbMatching
from autofinity.model.mechanism_run import COUNTS, MechanismRun, Ran
from autofinity.ports import RunRequest, Sensors
from autofinity.sim.machine import SimMachine
from autofinity.sim.process import SimProcess

_POINTS = 8
"""Places that are repeated at most; of more, those at as many points of the run."""
_MOST = 1000
"""Repeats of the region: more than are replayed. So many are counted, from the record."""
_LOOK_NS = 20_000
_MAPPING, _UPDATE = "mapping", "update"
_SAMPLE = "sample"
"""Kind of overhead that comes as often as the work asks for: of every so many accesses one."""
_READINGS = ("tlb read", "tlb compare")


def as_often(
    run: MechanismRun,
    longer: float,
    walks: float,
    detectors: Sequence[Detector],
    entries: int,
    triggers: int,
) -> Mapping[str, float]:
    """How many times as often as in `run` TLB misses ask for operations in a run that does `longer`
    times its work and misses `walks` times, by kind of overhead. `entries` are those of a TLB.

    TLB matching (TLB paper, sections 4.3.3 and 6.6): overhead "depends only on the amount of TLB
    misses", with a reading after T · E of a thread's own (equation 6). `run` read its TLBs after
    fewer, rested between two readings, and had `triggers`, which say what a reading takes.

    SAMMU (section 3.1; section 4.4 charges each access to its tables): an entry is looked at when
    it is evicted, as often as the TLB misses, and when its counter is full, which `run` has as
    often as the minute (`sammu.counter_bits`). So have the accesses: at most one full counter for
    as many of them as it counts. LAPT writes entries back when they are evicted.
    """
    found: dict[str, float] = {}
    for each in detectors:
        if isinstance(each, TlbMatching):
            readings = walks / (each.misses or run.threads * entries)
            found |= dict.fromkeys(_READINGS, readings / max(1, triggers))
        elif isinstance(each, TlbAccessCounters):
            full = run.tlb_accesses / 2**each.access_counter_bits
            found[_UPDATE] = (walks + full) / (walks / longer + full) if walks + full else 1.0
    return found


@dataclass(frozen=True, slots=True)
class _Stay:
    """A place, kept for long."""

    share: float
    """Share of the work that is done in it."""
    repeat_s: float
    """Time of a repeat with warm caches."""
    cold_s: float
    """Time that the first repeat takes longer, with cold caches and TLBs."""
    warm: MechanismRun
    """Some work with warm caches, a repeat or more."""


@dataclass(frozen=True, slots=True)
class PaperClock:
    """How long the run is that a simulated run stands for."""

    paper_s: float
    """Its time under the operating system."""
    second_ns: int | None
    """Nanoseconds of a simulated run that stand for a second of it; None where the simulated run is
    the operating system's own."""

    def stretch(self, run: MechanismRun) -> float:
        """Times that it does the work of `run`."""
        return self.paper_s / run.time_s if self.second_ns is None else NS_PER_S / self.second_ns


def ran_for_long[State](
    machine: SimMachine,
    request: RunRequest,
    recipe: Recipe[State],
    mapping_ns: int,
    clock: PaperClock,
    seed: int,
) -> Ran:
    """A run under a mechanism, and the run that it stands for. `mapping_ns` is the full price of a
    mapping. Raises the errors of the machine.
    """
    followed = Followed(machine)
    run = run_mechanism(followed, request, recipe, seed)
    minute = in_minute(
        run,
        followed.course,
        machine,
        replace(request, pages=recipe.start.pages),
        request.repeats * clock.stretch(run),
        mapping_ns,
        recipe.sensors.detectors,
        seed,
    )
    return Ran(run, minute)


def in_minute(
    run: MechanismRun,
    course: Course,
    machine: SimMachine,
    request: RunRequest,
    repeats: float,
    mapping_ns: int,
    detectors: Sequence[Detector],
    seed: int,
) -> MechanismRun:
    """The run that `run` stands for: `repeats` of the region, in the places of `course`.

    `mapping_ns` is the full price of a mapping; `detectors` are those of `run`. Raises the errors
    of the machine.
    """
    region = run.instructions / request.repeats
    stays = [
        _stay(machine, request, place, share, region, seed)
        for place, share in course.shares(_POINTS).items()
    ]

    def counted(name: str) -> float:
        """A count of the whole run."""
        of_one = (
            float(getattr(stay.warm, name)) * region / max(1, stay.warm.instructions) * stay.share
            for stay in stays
        )
        return repeats * sum(of_one)

    placed_s = repeats * sum(stay.share * stay.repeat_s for stay in stays)
    sampling = run.overhead_of(_SAMPLE)
    work_s = placed_s / (1 - sampling)
    longer, spec = repeats / request.repeats, machine.spec
    entries = spec.tlb.last_entries(spec.page_bytes)
    often = as_often(run, longer, counted("page_walks"), detectors, entries, course.triggers)
    prices = {kind: ns * often.get(kind, 1.0) for kind, ns in run.overhead_ns.items()}
    prices |= {_MAPPING: run.mappings * mapping_ns, _SAMPLE: 0}
    cold_s = course.threads_moved * sum(stay.share * stay.cold_s for stay in stays)
    time_s = work_s + (sum(prices.values()) / 1e9 + cold_s) / run.threads
    prices[_SAMPLE] = sampling * run.threads * work_s * 1e9
    overhead_ns = {kind: round(ns) for kind, ns in prices.items() if ns}
    counts: dict[str, Any] = {name: round(counted(name)) for name in COUNTS}
    return replace(
        run,
        **counts,
        time_s=time_s,
        energy_j=counted("energy_j") * time_s / placed_s,
        dram_energy_j=counted("dram_energy_j"),
        detection_accesses=round(run.detection_accesses * often.get(_UPDATE, longer)),
        overhead_ns=overhead_ns,
    )


def _stay(
    machine: SimMachine,
    request: RunRequest,
    place: Place,
    share: float,
    region: float,
    seed: int,
) -> _Stay:
    """Stay in a place, with nothing that detects."""
    parts = range(machine.spec.page_bytes // PAGE_BYTES)
    nodes = {
        first + part: node
        for node, own in enumerate(place.pages)
        for first in own
        for part in parts
    }
    pages = replace(request.pages, nodes={**request.pages.nodes, **nodes})
    asked = replace(request, repeats=_MOST, pages=pages)
    started = machine.start(asked, place.placement, Sensors(SCORED), seed)
    assert isinstance(started, SimProcess)  # a sampled trace is not repeated
    process = LastingProcess(started, region)
    while process.done < 1:  # so that each page has been touched
        process.advance(_LOOK_NS)
    first, first_s = process.done, process.now_ns / 1e9
    repeat_s = process.lasting().repeat_s
    warm = Counted(process)
    warm.advance(round(_MOST * process.repeat_ns))
    cold_s = max(0.0, first_s - first * repeat_s)
    return _Stay(share, repeat_s, cold_s, warm.result(request.threads))
