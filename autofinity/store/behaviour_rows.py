"""Rows of the behaviour database as values, and the way values are stored."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.answer_on_record import SeatOrder
from autofinity.model.timeline import TimelineStep
from autofinity.store.row_values import Values

_PATHS = frozenset({"path", "policy_path"})
NOT_UTF_8 = _PATHS | {"notes"}
"""Columns that hold any bytes: paths, and what names paths."""


@dataclass(frozen=True, slots=True)
class Known:
    """Known facts about one program with one thread count."""

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
    order: SeatOrder
    """Order in which threads sat."""


@dataclass(frozen=True, slots=True)
class LiveObservation:
    """Behaviour of one run in one affinity."""

    run: int
    """Number of the run: rows of one run are comparable with each other."""
    program: str
    threads: int
    affinity: Affinity
    machine: str
    """Description of the machine; equal for machines of the same shape and CPU model."""
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
    hint: Hint | None
    bound: int
    notes: str
    totals: Mapping[str, int]
    """Counts of the whole run, threads and children together; empty without hardware counters."""
    host: str
    """Boot and PID namespace that `pid` belongs to; empty in rows of the first two schemas."""
    start_ticks: int
    """Start of the process in clock ticks since boot: with `pid` and `host` it identifies the
    process."""
    monitor_pid: int
    """Process that watches the run; `monitor_ticks` is its start."""
    monitor_ticks: int
    policy: str
    """Digest of the policy that is asked; empty without one."""
    policy_path: str
    allowed: str
    """CPU list that was allowed when the run began."""
    phase: str
    """Stage of the watching; empty before the first look."""
    cpus: str
    """CPU list that a run claims while its program lives: the cores that its threads were given.
    After the end, the CPUs that its threads were bound to; empty: to none, or it is not known."""
    sample: Mapping[str, float]
    """Sample that the policy was asked with; empty before, and for a hint that was known."""
    probe: Mapping[str, float]
    """Sample that the policy's second look was asked with."""


class RunOrigin(TypedDict, total=False):
    """Facts of a run at its beginning; see `RunRecord`."""

    started: float
    """Unix time; not given: now."""
    host: str
    start_ticks: int
    monitor_pid: int
    monitor_ticks: int
    policy: str
    policy_path: str
    allowed: str
    machine: str
    """The machine (`machine_text`)."""
    site: str
    """Site's database that the finished run is to be sent to (`site_name`); empty: to none."""


class RunChanges(TypedDict, total=False):
    """Changes of a run; a value that is not given, or None, stays."""

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
    """Mask that a thread got from autofinity, and the mask before it."""

    tid: int
    start_ticks: int
    """Start of the thread: tids are reused."""
    before: str
    """CPU list of the mask before."""
    given: str
    """CPU list of the mask that was given."""


def known_of(row: tuple[object, ...]) -> Known:
    """Value of a row `program, path, threads, sample, tier, sampled_at, hint, policy, by_number,
    exchanged`.
    """
    values = Values(f"sample of program {str(row[0])[:12]}", row)
    return Known(
        program=values.text("program"),
        path=values.path("path"),
        threads=values.threads("threads"),
        sample=values.counts("sample"),
        tier=values.text("tier"),
        sampled_at=values.time("sampled_at"),
        hint=values.or_none(values.hint, "hint"),
        policy=values.or_none(values.text, "policy"),
        order=order_of(values.whole("by_number"), values.whole("exchanged")),
    )


def order_of(by_number: int, exchanged: int) -> SeatOrder:
    """The order of threads in two columns."""
    if exchanged:
        return "exchanged"
    return "by number" if by_number else "near home"


def observation_of(row: tuple[object, ...]) -> LiveObservation:
    """Value of a row `run, program, threads, affinity, machine, sample, tier`."""
    values = Values(f"observation of run {row[0]}", row)
    return LiveObservation(
        run=values.number("run"),
        program=values.text("program"),
        threads=values.threads("threads"),
        affinity=values.affinity("affinity"),
        machine=values.text("machine"),
        sample=values.counts("sample"),
        tier=values.text("tier"),
    )


def run_of(row: tuple[object, ...]) -> RunRecord:
    """Value of the columns of `run`, with its program's path, in the order of `RunRecord`."""
    values = Values(f"run {row[0]}", row)
    return RunRecord(
        id=values.number("id"),
        program=values.text("program"),
        path=values.path("path"),
        pid=values.pid("pid"),
        started=values.time("started"),
        ended=values.or_none(values.time, "ended"),
        tier=values.text("tier"),
        threads=values.or_none(values.threads, "threads"),
        hint=values.or_none(values.hint, "hint"),
        bound=values.threads("bound"),
        notes=values.text("notes"),
        totals=values.whole_counts("totals"),
        host=values.text("host"),
        start_ticks=values.whole("start_ticks"),
        monitor_pid=values.pid("monitor_pid"),
        monitor_ticks=values.whole("monitor_ticks"),
        policy=values.text("policy"),
        policy_path=values.path("policy_path"),
        allowed=values.text("allowed"),
        phase=values.text("phase"),
        cpus=values.text("cpus"),
        sample=values.counts("sample"),
        probe=values.counts("probe"),
    )


def mask_of(row: tuple[object, ...]) -> MaskRecord:
    """Value of a row `tid, start_ticks, before, given`."""
    values = Values(f"mask of thread {row[0]}", row)
    return MaskRecord(
        tid=values.pid("tid"),
        start_ticks=values.whole("start_ticks"),
        before=values.text("before"),
        given=values.text("given"),
    )


def look_of(row: tuple[object, ...]) -> TimelineStep:
    """Value of a row `start_ns, end_ns, place, counts`."""
    values = Values("look at a run", row)
    return TimelineStep(
        start_ns=values.whole("start_ns"),
        end_ns=values.whole("end_ns"),
        place=values.text("place"),
        counts=values.counts_by_number("counts"),
    )


def rows_at_build_of(row: tuple[object, ...]) -> int:
    """Number in the `value` of that name."""
    return Values("rows_at_build", row).digits("value")


def taken(column: str) -> str:
    """Expression that reads a column: paths as bytes."""
    return f"CAST({column} AS BLOB)" if column in _PATHS else column


def blob(column: str) -> str:
    """Expression that reads a column: all that need not be UTF-8 as bytes."""
    return f"CAST({column} AS BLOB)" if column in NOT_UTF_8 else column


def put(column: str) -> str:
    """Expression that writes a value: columns that need not be UTF-8 as a text of any bytes."""
    return "CAST(? AS TEXT)" if column in NOT_UTF_8 else "?"


def stored(values: Mapping[str, object]) -> tuple[object, ...]:
    """Values by column, in the form that `put` needs."""
    return tuple(
        os.fsencode(value)
        if name in _PATHS and isinstance(value, str)
        else value.encode("utf-8", "surrogateescape")
        if name in NOT_UTF_8 and isinstance(value, str)
        else value
        for name, value in values.items()
    )
