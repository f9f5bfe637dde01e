"""What a row of the behaviour database says, as values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from autofinity.model.affinity import Affinity, Hint


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one program with one thread count."""

    program: str
    path: str
    threads: int
    sample: Mapping[str, float]
    """Counts per thread and second, and ratios, by neutral name."""
    tier: str
    sampled_at: float
    """Seconds since the epoch."""
    hint: Hint | None
    policy: str | None
    """Digest of the policy that gave the hint."""


@dataclass(frozen=True, slots=True)
class LiveObservation:
    """What one run did in one affinity."""

    run: int
    """Number of the run: rows of one run are comparable with each other."""
    program: str
    threads: int
    affinity: Affinity
    machine: str
    """Which machine it was, in words; equal for machines of the same shape and CPU model."""
    sample: Mapping[str, float]
    """Counts per thread and second, by neutral name."""
    tier: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One start of a program under `autofinity run`, or one `autofinity attach`."""

    id: int
    program: str
    path: str
    pid: int
    started: float
    ended: float | None
    tier: str
    threads: int | None
    hint: str | None
    bound: int
    notes: str
    totals: Mapping[str, int]
    """Counts of the whole run, threads and children together; empty without hardware counters."""
    host: str
    """Boot and PID namespace that `pid` is a number of; empty in rows of the first two schemas."""
    start_ticks: int
    """When the process began, in clock ticks since boot: with `pid` and `host` it names it."""
    monitor_pid: int
    """Who watches it, named in the same way by `monitor_ticks`."""
    monitor_ticks: int
    policy: str
    """Digest of the policy that is asked; empty without one."""
    policy_path: str
    allowed: str
    """CPU list that was allowed when it began."""
    phase: str
    """Where the watching stands; empty before the first look."""
    cpus: str
    """CPU list that the run claims: the cores its threads were given."""
    sample: Mapping[str, float]
    """What the policy was asked with; empty before, and for a hint that was known."""
    probe: Mapping[str, float]
    """What its second look was asked with."""


class RunOrigin(TypedDict, total=False):
    """What is known of a run when it begins; see `RunRecord`."""

    host: str
    start_ticks: int
    monitor_pid: int
    monitor_ticks: int
    policy: str
    policy_path: str
    allowed: str


class RunChanges(TypedDict, total=False):
    """How a run goes on; what is not given, or None, stays."""

    threads: int | None
    hint: Hint | None
    bound: int | None
    notes: str | None
    totals: Mapping[str, int] | None
    phase: str | None
    cpus: str | None
    sample: Mapping[str, float] | None
    probe: Mapping[str, float] | None
    ended: bool


@dataclass(frozen=True, slots=True)
class MaskRecord:
    """What a thread may run on by us, and what it might run on before."""

    tid: int
    start_ticks: int
    """When the thread began: tids are used again."""
    before: str
    """CPU list."""
    given: str
    """CPU list."""


def known_of(row: tuple[str, str, int, str, str, float, str | None, str | None]) -> Known:
    """From `program, path, threads, sample, tier, sampled_at, hint, policy`."""
    program, path, threads, sample, tier, sampled_at, hint, policy = row
    values = json.loads(sample)
    return Known(
        program,
        path,
        threads,
        {name: float(value) for name, value in values.items()},
        tier,
        sampled_at,
        Hint.parse(hint) if hint else None,
        policy,
    )


def observation_of(row: tuple[int, str, int, str, str, str, str]) -> LiveObservation:
    """From `run, program, threads, affinity, machine, sample, tier`."""
    run, program, threads, affinity, machine, sample, tier = row
    values = {name: float(value) for name, value in json.loads(sample).items()}
    return LiveObservation(run, program, threads, Affinity.parse(affinity), machine, values, tier)


def run_of(row: tuple[object, ...]) -> RunRecord:
    """From the columns of `run`, its program's path among them, in the order of `RunRecord`."""
    values = dict(zip(RunRecord.__dataclass_fields__, row, strict=True))
    for name in ("totals", "sample", "probe"):
        values[name] = json.loads(str(values[name]))
    return RunRecord(**values)  # type: ignore[arg-type]
