"""A policy on a running program, with all costs charged to the run.

The program is sampled, moved and, where the policy has a second look, sampled and moved again, all
within the run. Compared with a run that is restarted in the chosen affinity, this shows the cost of
switching: time in other affinities, migrations, and pages that stay where they were first touched.
The process is one of `ports.Machine`, so the simulator charges the costs of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autofinity.affinity.best_matches import all_cores
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.errors import SimulationError
from autofinity.model.placement import CoreSet, Placement
from autofinity.model.policy import RulePolicy
from autofinity.policy.selector import decide
from autofinity.ports import BindThreads, Interval, Machine, Process, RunRequest, Sensors
from autofinity.profiling.placements import bound, shared
from autofinity.profiling.sampling import NS_PER_S, behaviour_of


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings for the sampling of a run."""

    period_ns: int
    warmup: int = 1
    """Number of periods after each placement that show only cold caches."""
    samples: int = 1
    """Number of periods whose mean the policy gets."""


@dataclass(frozen=True, slots=True)
class InRun:
    """Result of the run."""

    roi_s: float
    """Time of the whole region of interest, samples and moves included."""
    hints: tuple[Hint, ...]
    """Hints of the threads' placements, in order; the last is the policy's answer, unless the
    program ended first."""
    decided_at_s: float
    """Time of the last placement, from the start of the region; NaN if the program ended before."""


def run_in(
    machine: Machine,
    request: RunRequest,
    policy: RulePolicy,
    sampling: Sampling,
    seed: int = 0,
    room: int = 0,
) -> InRun:
    """Run once: a first sample, and a second look; a trial is left out, as it is from the profiled
    runs that switch (`switched`).

    With `room` the threads share that many cores, fewer than there are threads. Raises
    `PlacementError` when the machine has too few PUs, and the errors of the machine.
    """
    room = room or request.threads
    run = _Run(machine, request, policy.counters, seed, room)
    start = run.sample(sampling)
    if start is not None:
        decision = decide(policy, start)
        second = policy.second_after(decision.hint)
        if second is not None and run.move(second.sampled_in):
            probe = run.sample(sampling)
            if probe is not None:
                decision = decide(second.policy, second.values(start, probe))
        if not run.ended:
            cores = all_cores(machine.topology)
            run.move(policy.at(decision.hint, room, cores))
            run.decided_at_s = run.elapsed_s
    return run.to_the_end(sampling.period_ns)


class _Run:
    """A process, the placement of its threads, and its elapsed time."""

    def __init__(
        self,
        machine: Machine,
        request: RunRequest,
        counters: tuple[str, ...],
        seed: int,
        room: int,
    ) -> None:
        self._topology = machine.topology
        self._threads, self._room = request.threads, room
        self._cores = get_affinity(self._topology, room, SPREAD)
        self._process: Process = machine.start(
            request, self._placement(self._cores), Sensors(counters), seed
        )
        self._start_ns: int | None = None
        self.hints = [SPREAD]
        self.elapsed_s = 0.0
        self.decided_at_s = float("nan")
        self.ended = False

    def sample(self, sampling: Sampling) -> Mapping[str, float] | None:
        """Counts per thread and second of the periods after the warm-up; None: the program ended
        first.
        """
        seen: list[Interval] = []
        for number in range(sampling.warmup + sampling.samples):
            interval = self._advance(sampling.period_ns)
            if self.ended:
                return None
            if number >= sampling.warmup:
                seen.append(interval)
        samples = tuple(sample for interval in seen for sample in interval.samples)
        whole = Interval(seen[0].start_ns, seen[-1].end_ns, samples)
        return behaviour_of(whole, self._room).values

    def move(self, hint: Hint) -> bool:
        """Bind the threads to the best match of a hint; return whether that is another core set."""
        cores = get_affinity(self._topology, self._room, hint)
        moved = cores.cpus != self._cores.cpus
        if moved:
            self._process.apply((BindThreads(self._placement(cores)),))
            self._cores = cores
            self.hints.append(hint)
        return moved

    def to_the_end(self, period_ns: int) -> InRun:
        """Let the program run to its end."""
        while not self.ended:
            self._advance(period_ns)
        return InRun(self.elapsed_s, tuple(self.hints), self.decided_at_s)

    def _placement(self, cores: CoreSet) -> Placement:
        return shared(bound(cores.cpus), self._threads)

    def _advance(self, period_ns: int) -> Interval:
        interval = self._process.advance(period_ns)
        if self._start_ns is None:
            self._start_ns = interval.start_ns
        if interval.end_ns <= interval.start_ns and not interval.ended:
            raise SimulationError(
                f"the machine did not advance at {interval.end_ns} ns, expected a period of "
                f"{period_ns}"
            )
        self.elapsed_s = (interval.end_ns - self._start_ns) / NS_PER_S
        self.ended = interval.ended
        return interval
