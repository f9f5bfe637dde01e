"""From a suite to observations of a machine: what `profile`, `train` and `evaluate` do first.

    suite ─► traces (captured once, kept) ─► profile ─► observations (kept run by run)

Everything is in one work folder, and whatever is complete there is not done again:
`traces/PROGRAM-SIZE-THREADSt/` and `observations/MACHINE/` (`MACHINE-20us/` for another sample
period than the default, `MACHINE-2M-pages/` for a page size asked for, `MACHINE-private-stage/` for
replays that may start from one: different ones are never mixed).
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from autofinity import __version__
from autofinity.cli.progress import progress
from autofinity.model.errors import LearningError
from autofinity.profiling.campaign import Failure, Subject, Target, plan, profile
from autofinity.profiling.sampling import Run
from autofinity.profiling.selection import select
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import ObservationStore
from autofinity.trace.manifest import Suite

DEFAULT_PERIOD_US = 500.0
"""Simulated. The paper samples for 10 s of some 100 s runs; a `small` input runs 5 to 30 ms."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be observed, and where it is kept."""

    machine: str
    suite: Suite
    programs: tuple[str, ...]
    """Empty for all of the suite."""
    size: str
    threads: tuple[int, ...]
    affinities: str
    seed: int
    page_seeds: int
    period_us: float | None
    jobs: int
    work: Path
    quiet: bool = False
    latencies: str | None = None
    """For a machine that is only a topology: a file or a preset."""
    page_size: str | None = None
    """One of `PAGE_SIZES`; None: the machine's own."""
    private_stage: bool = False
    """An approximation: see `SimMachine`."""


def gather(wanted: Wanted) -> ObservationTable:
    """Observations of every wanted program, in every selected affinity, at every thread count.

    Programs that cannot be captured or replayed are named on stderr and left out. Raises
    `LearningError` when nothing is left.
    """
    from autofinity.cli.backends import simulated

    machine = simulated(
        wanted.machine, wanted.latencies, wanted.page_size, private_stage=wanted.private_stage
    )
    version = f"{__version__}+private-stage" if wanted.private_stage else __version__
    affinities = {
        threads: select(machine.topology, threads, wanted.affinities, wanted.seed)
        for threads in wanted.threads
    }
    subjects = [subject for threads in wanted.threads for subject in capture(wanted, threads)]
    target = Target(
        machine=machine,
        name=wanted.machine,
        backend="sim",
        clock_hz=machine.clock_hz,
        period_ns=round((wanted.period_us or DEFAULT_PERIOD_US) * 1000),
        version=version,
    )
    cells = plan(subjects, affinities, range(1, 1 + wanted.page_seeds))
    store = ObservationStore(observations_folder(wanted))
    made_by = hashlib.sha256(f"{version} {machine.spec!r}".encode()).hexdigest()
    store.expect({(s.program, s.input, s.threads): f"{s.origin} {made_by}" for s in subjects})
    with progress("profile", len(cells), wanted.quiet) as bar:
        failures = profile(
            target,
            cells,
            store,
            wanted.jobs,
            lambda run, fresh: bar.step(_label(run)),
        )
    _tell(failures)
    asked = {(s.program, s.input, s.threads) for s in subjects}
    table = only(store.read(), asked)
    if not len(table):
        raise LearningError(
            f"no observations on {wanted.machine}: all {len(cells)} runs failed, see above"
        )
    return table


def capture(wanted: Wanted, threads: int) -> list[Subject]:
    """Traces of the wanted programs with `threads` threads, as subjects for the simulator."""
    from autofinity.cli.capture import capture_traces
    from autofinity.ports import RunRequest

    traces = capture_traces(
        wanted.suite,
        wanted.programs,
        threads,
        wanted.size,
        wanted.work / "traces",
        quiet=wanted.quiet,
        keep_going=True,
    )
    return [
        Subject(
            trace.program,
            trace.input,
            trace.threads,
            RunRequest(program=str(trace.path), threads=trace.threads),
            origin=trace.digest,
        )
        for trace in traces
    ]


def observations_folder(wanted: Wanted) -> Path:
    """Where the observations of a machine are kept; its name may be a path or a description."""
    safe = "".join(c if c.isalnum() or c in "-._" else "_" for c in wanted.machine)
    if wanted.period_us not in (None, DEFAULT_PERIOD_US):
        safe += f"-{wanted.period_us:g}us"
    if wanted.page_size is not None:
        safe += f"-{wanted.page_size}-pages"
    if wanted.private_stage:
        safe += "-private-stage"
    return wanted.work / "observations" / safe


def only(table: ObservationTable, asked: set[tuple[str, str, int]]) -> ObservationTable:
    """The rows of the (program, input, threads) asked for; a folder may hold more."""
    import numpy as np

    keys = zip(table.program.text(), table.input.text(), table.threads.tolist(), strict=True)
    return table.take(np.fromiter((key in asked for key in keys), dtype=bool, count=len(table)))


def _label(run: Run) -> str:
    return f"{run.program} {run.affinity}"


def _tell(failures: list[Failure]) -> None:
    """One line for each distinct reason."""
    reasons: dict[tuple[str, str], int] = {}
    for failure in failures:
        key = (failure.run.program, failure.reason)
        reasons[key] = reasons.get(key, 0) + 1
    for (program, reason), count in reasons.items():
        print(f"autofinity: {program}: {count} runs failed: {reason}", file=sys.stderr)
