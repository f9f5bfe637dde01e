"""The same program at several thread counts, or on several counts of CPUs, on a simulated machine.

    thread count ─► captured ─► replayed in each hint's best match ─► asked of the policy ─► a point

A program of a suite is captured again at each count. A trace has the threads that it has: what can
be said of it is what fewer CPUs, or siblings, would do to them. The policy is asked as it is
judged: by whole runs, in the affinities that it looks in. Times are of one seed. The chosen
placement is replayed with other seeds, too: how much their times differ is noise.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autofinity._core.trace import is_sampled
from autofinity.affinity.best_matches import all_cores
from autofinity.affinity.hints import get_affinity
from autofinity.evaluation.speed_curve import Curve, Point
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.model.affinity import HINTS, SPREAD, Hint
from autofinity.model.errors import CapabilityError, SuiteError, UsageError
from autofinity.model.facts import LINE_BYTES
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.answers import last_answer
from autofinity.policy.on_machine import on_machine
from autofinity.reporter import SILENT, Reporter
from autofinity.sim.crew import Crew
from autofinity.sim.result import EVENT_INDEX, SimResult
from autofinity.sim.spec import MachineSpec
from autofinity.sim.speeds import facts_of_machine
from autofinity.workflow.advice.curve_counts import checked_counts, usual_counts
from autofinity.workflow.capture import capture
from autofinity.workflow.simulate import (
    Seats,
    placed_crew,
    simulate_shared,
    simulate_trace,
    threads_of,
)
from autofinity.workflow.wanted import Wanted

_READS = ("dram_reads_local", "dram_reads_remote")
_SEEDS = 3
"""Replays of the chosen placement. A seed decides page colours and, where threads share CPUs, what
the model of the scheduler does: what the seed changes is noise."""
_REPEATED = f"{_SEEDS} seeds of page colours and scheduler"
_NOT_ASKED = "no policy was asked: the spread placement counts as the chosen one"


def curve_of_program(
    spec: MachineSpec,
    wanted: Wanted,
    policy: RulePolicy | None,
    counts: Sequence[int] = (),
    reporter: Reporter = SILENT,
) -> Curve:
    """One program of a suite at so many threads (none: `usual_counts`): captured and replayed.

    Counts that it does not take are left out, with a notice. Raises `UsageError`, `SuiteError`
    where no count is left, and what capturing raises.
    """
    (program,) = wanted.suite.pick(wanted.programs)
    chosen = checked_counts(counts, spec.topology) if counts else usual_counts(spec.topology)
    taken = [count for count in chosen if program.threads.allows(count)]
    if len(taken) < len(chosen):
        left = ", ".join(str(count) for count in chosen if count not in taken)
        reporter.notice(f"{program.name} takes {program.threads} threads: not with {left}")
    if not taken:
        raise SuiteError(f"{program.name} takes {program.threads} threads; expected some of these")
    points = []
    with reporter.progress("curve", len(taken)) as done:
        for count in taken:
            (ready,) = capture(replace(wanted, threads=(count,)), count, reporter, sample="auto")
            trace = Path(ready.request.program)
            crew = placed_crew(spec, trace)
            points.append(_Replayed(spec, trace, crew, crew.room).point(count, policy))
            done.step(f"threads: {count}")
    name = f"{program.name} {wanted.sizes[0]}"
    return Curve(name, spec.name, "threads", tuple(points), _notes(policy), _REPEATED)


def curve_of_trace(
    spec: MachineSpec,
    trace: Path,
    policy: RulePolicy | None,
    counts: Sequence[int] = (),
    *,
    threads: int | None = None,
    reporter: Reporter = SILENT,
) -> Curve:
    """A captured program on so many CPUs (none: a quarter, half and all as many as threads run at a
    time, and these on siblings, where the machine has them).

    Raises `UsageError` for more CPUs than that, `CapabilityError` for a sampled trace on fewer
    CPUs than threads, `TraceError`, `PlacementError`, `SimulationError`.
    """
    crew, topology = placed_crew(spec, trace, threads), spec.topology
    most = crew.room
    if is_sampled(str(trace)):
        raise CapabilityError(
            f"{trace} is a sampled trace, whose threads stay on a CPU each; expected one that was "
            "captured with --whole, or --program, which captures it at each count"
        )
    wanted = counts or (max(1, most // 4), max(1, most // 2), most)
    taken = tuple(count for count in checked_counts(wanted, topology) if count <= most)
    if len(taken) < len(set(wanted)):
        reporter.notice(f"{trace.name} runs on {most} CPUs at a time: more are left out")
    if not taken:
        raise UsageError(f"--curve: expected counts of CPUs up to {most}, as many as it runs on")
    points: list[Point] = []
    told = threads_of(trace, threads)
    with reporter.progress("curve", len(taken)) as done:
        whole = _Replayed(spec, trace, crew, most)
        hint = whole.chosen(policy)
        for count in taken:
            replayed = whole if count == most else _Replayed(spec, trace, crew, count)
            points.append(replayed.point(told, policy, hint))
            done.step(f"CPUs: {count}")
        siblings = () if counts else siblings_of(topology, most, hint)
        if siblings:
            result = _run(spec, trace, crew, siblings)
            scatter = _scatter(spec, trace, crew, siblings, result)
            points.append(_point(told, topology, siblings, result, hint, scatter))
    order = sorted(points, key=lambda point: (point.cpus, point.cores))
    return Curve(trace.name, spec.name, "CPUs", tuple(order), _notes(policy), _REPEATED)


def siblings_of(topology: Topology, threads: int, hint: Hint) -> tuple[OsIndex, ...]:
    """CPUs for so many threads on half as many cores, two of each; none where cores have one."""
    cores = get_affinity(topology, (threads + 1) // 2, hint).cpus
    of_core: dict[int, list[OsIndex]] = {}
    for pu in topology.pus:
        if pu.os_index in topology.allowed:
            of_core.setdefault(pu.core, []).append(pu.os_index)
    pairs = [of_core[topology.by_os_index[cpu].core][:2] for cpu in cores]
    if threads < 2 or any(len(pair) < 2 for pair in pairs):
        return ()
    return tuple(cpu for pair in pairs for cpu in pair)[:threads]


class _Replayed:
    """A trace on so many CPUs; each placement is replayed once, when it is first asked for."""

    def __init__(self, spec: MachineSpec, trace: Path, crew: Crew, cpus: int) -> None:
        self._spec, self._trace, self._crew, self._cpus = spec, trace, crew, cpus
        self._known: dict[tuple[OsIndex, ...], SimResult] = {}

    def chosen(self, policy: RulePolicy | None) -> Hint:
        """The last hint of the policy."""
        if policy is None:
            return SPREAD
        topology = self._spec.topology
        here = on_machine(policy, facts_of_machine(self._spec)(self._cpus))

        def look(hint: Hint) -> Mapping[str, float]:
            return self._behaviour(self._in(hint))

        return last_answer(here, look, self._cpus, all_cores(topology))

    def point(self, told: int, policy: RulePolicy | None, hint: Hint | None = None) -> Point:
        """In the best match of `hint`, by default the policy's, and of the best hint beside it."""
        hint = self.chosen(policy) if hint is None else hint
        best = min(HINTS, key=lambda other: self._in(other).roi_ns)
        cpus, result = self._cpus_of(hint), self._in(hint)
        scatter = _scatter(self._spec, self._trace, self._crew, cpus, result)
        point = _point(told, self._spec.topology, cpus, result, hint, scatter)
        return replace(point, best_hint=best, best_s=self._in(best).roi_ns / 1e9)

    def _cpus_of(self, hint: Hint) -> tuple[OsIndex, ...]:
        return get_affinity(self._spec.topology, self._cpus, hint).cpus

    def _in(self, hint: Hint) -> SimResult:
        cpus = self._cpus_of(hint)
        if cpus not in self._known:
            self._known[cpus] = _run(self._spec, self._trace, self._crew, cpus)
        return self._known[cpus]

    def _behaviour(self, result: SimResult) -> Mapping[str, float]:
        """Per thread that runs and second; cold periods left out, where there are others."""
        warm = slice(WARMUP_PERIODS if len(result.samples) > WARMUP_PERIODS else 0, None)
        times = result.times_ns[warm]
        seconds = float((times[:, 1] - times[:, 0]).sum()) / 1e9
        counts = result.samples[warm][:, list(result.workers)].sum(axis=(0, 1))
        each = self._crew.room * seconds
        return {event: float(counts[index]) / each for event, index in EVENT_INDEX.items()}


def _run(
    spec: MachineSpec, trace: Path, crew: Crew, cpus: tuple[OsIndex, ...], seed: int = 0
) -> SimResult:
    if len(cpus) < crew.computing:
        return simulate_shared(spec, trace, cpus, crew.computing, seed=seed)
    return simulate_trace(spec, trace, Seats(cpus=cpus), threads=crew.computing, seed=seed)


def _scatter(
    spec: MachineSpec, trace: Path, crew: Crew, cpus: tuple[OsIndex, ...], first: SimResult
) -> float:
    """(slowest − fastest) / median of the times with other seeds; `first` has seed 0."""
    others = (_run(spec, trace, crew, cpus, seed) for seed in range(1, _SEEDS))
    times_ns = [first.roi_ns, *(result.roi_ns for result in others)]
    return (max(times_ns) - min(times_ns)) / statistics.median(times_ns)


def _point(
    told: int,
    topology: Topology,
    cpus: tuple[OsIndex, ...],
    result: SimResult,
    hint: Hint,
    scatter: float,
) -> Point:
    reads = sum(result.total(event) for event in _READS)
    return Point(
        threads=told,
        cpus=len(cpus),
        cores=len({topology.by_os_index[cpu].core for cpu in cpus}),
        time_s=result.roi_ns / 1e9,
        hint=hint,
        read_gbs=reads * LINE_BYTES / result.roi_ns,
        scatter=scatter,
    )


def _notes(policy: RulePolicy | None) -> tuple[str, ...]:
    return () if policy is not None else (_NOT_ASKED,)
