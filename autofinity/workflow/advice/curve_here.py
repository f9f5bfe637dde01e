"""A program run on this machine at several thread counts, each time under `autofinity run`.

    count ─► {threads} in its words, OMP_NUM_THREADS ─► autofinity run -t count ─► time, reads, hint

Nothing of what is found out at one count is known at the next: each run has a database of its own.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autofinity.evaluation.speed_curve import Curve, Point
from autofinity.linux.capabilities import probe
from autofinity.linux.counted_program import CountedRun, run_counted
from autofinity.linux.event_tables import Encoding, event_table, this_cpu
from autofinity.linux.online import sysfs_root
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.errors import StoreError
from autofinity.model.facts import LINE_BYTES
from autofinity.reporter import SILENT, Reporter
from autofinity.runtime.launcher import find_launcher
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord
from autofinity.workflow.advice.curve_counts import checked_counts, usual_counts
from autofinity.workflow.advice.memory_reads import fewest_counters, lines_from_memory

PLACEHOLDER = "{threads}"
_FIRST_WORD_S, _LAST_WORD_S, _LOOK_S = 1.0, 10.0, 0.02
"""For how long a monitor may take, after the program's end, to begin and to end its record. That of
a program of less than some tenths of a second may never begin."""
_NEVER_STARTED = (126, 127)


@dataclass(frozen=True, slots=True)
class CurveHere:
    """Result of the runs."""

    curve: Curve | None
    """None: no run ended well."""
    exit_code: int
    """Exit code of the program in the run that failed, else 0."""
    failed_at: int | None
    """Thread count of the run that failed, after which none was begun; None: none did."""


def curve_here(
    argv: Sequence[str],
    counts: Sequence[int] = (),
    *,
    policy: str | None = None,
    repeats: int = 1,
    to_stderr: bool = False,
    reporter: Reporter = SILENT,
) -> CurveHere:
    """Run a program `repeats` times at each count (none: `usual_counts`), by `policy` or the policy
    that a run asks by itself. `{threads}` in the words of the program, and OMP_NUM_THREADS, are
    the count.

    Raises `UsageError` for more threads than CPUs, `LinuxError` without a launcher,
    `TopologyError`.
    """
    topology = read_sysfs(sysfs_root())
    chosen = checked_counts(counts, topology) if counts else usual_counts(topology)
    launcher, (counters, why_not) = find_launcher(), _counters()
    points: list[Point] = []
    others: list[str] = []
    failed: CountedRun | None = None
    with (
        reporter.progress("curve", len(chosen) * repeats) as done,
        tempfile.TemporaryDirectory(prefix="autofinity-", ignore_cleanup_errors=True) as folder,
    ):
        for count in chosen:
            runs: list[tuple[CountedRun, RunRecord | None]] = []
            for number in range(repeats):
                database = Path(folder) / f"{count}-{number}.db"
                run = _run(launcher, argv, count, policy, database, counters, to_stderr)
                if run[0].exit_code:
                    failed = run[0]
                    break
                runs.append(run)
                done.step(f"threads: {count}")
            if failed is not None:
                break
            points.append(_point(count, runs))
            others += _other_count(count, [record for _, record in runs])
    notes: tuple[str, ...] = (why_not,) if why_not else ()
    if others:
        notes += (
            f"other numbers of threads computed than asked for: {', '.join(others)}; the number "
            f"reaches the program as {PLACEHOLDER} in its words and as OMP_NUM_THREADS",
        )
    undecided = [str(point.threads) for point in points if not point.hint]
    if undecided:
        notes += (f"threads were left where the system put them: at {', '.join(undecided)}",)
    name = Path(argv[0]).name
    repeated = f"{repeats} runs" if repeats > 1 else ""
    curve = None
    if points:
        curve = Curve(name, topology.name, "threads", tuple(points), notes, repeated)
    if failed is None:
        return CurveHere(curve, 0, None)
    return CurveHere(curve, failed.exit_code, chosen[len(points)])


def _run(
    launcher: Path,
    argv: Sequence[str],
    count: int,
    policy: str | None,
    database: Path,
    counters: Mapping[str, Encoding],
    to_stderr: bool,
) -> tuple[CountedRun, RunRecord | None]:
    words = [word.replace(PLACEHOLDER, str(count)) for word in argv]
    asked = [] if policy is None else ["--policy", policy]
    environment = {**os.environ, "OMP_NUM_THREADS": str(count)}
    options = ["--quiet", "--db", str(database), "-t", str(count), *asked]
    command = [str(launcher), "run", *options, "--", *words]
    done = run_counted(command, environment, counters, to_stderr=to_stderr)
    return done, None if done.exit_code in _NEVER_STARTED else _on_record(database)


def _on_record(database: Path) -> RunRecord | None:
    """The monitor's record of the run, once it has its end; the monitor is gone by then, too."""
    began_s = time.monotonic()
    while time.monotonic() < began_s + (_LAST_WORD_S if database.exists() else _FIRST_WORD_S):
        with suppress(StoreError), BehaviourDB.open(database, read_only=True) as found:
            runs = found.runs(1)
            if runs and runs[0].ended is not None:
                return runs[0]
        time.sleep(_LOOK_S)
    return None


def _other_count(count: int, records: Sequence[RunRecord | None]) -> list[str]:
    """Numbers of threads that computed in place of `count`, where the monitor saw any."""
    seen = {record.threads for record in records if record is not None and record.threads}
    return [f"{number} at {count}" for number in sorted(seen - {count})]


def _point(count: int, runs: Sequence[tuple[CountedRun, RunRecord | None]]) -> Point:
    times = [done.elapsed_s for done, _ in runs]
    middle = statistics.median(times)
    # Reads and record of the run that is nearest to the median time, which is reported.
    done, record = min(runs, key=lambda run: abs(run[0].elapsed_s - middle))
    reads = lines_from_memory(done.counts.get)
    return Point(
        threads=count,
        cpus=0,
        cores=0,
        time_s=middle,
        hint=record.hint if record is not None and record.bound > 0 else None,
        read_gbs=None if reads is None else reads * LINE_BYTES / done.elapsed_s / 1e9,
        scatter=(max(times) - min(times)) / middle if len(times) > 1 else None,
    )


def _counters() -> tuple[Mapping[str, Encoding], str]:
    """Counters of lines from memory, and why there are none."""
    capability = probe()["hardware counters"]
    if not capability.available:
        return {}, f"reads of memory were not counted: {capability.detail}; {capability.remedy}"
    table = event_table(this_cpu())
    names = fewest_counters(table)
    if not names:
        return {}, "reads of memory were not counted: this CPU has no event for them"
    return {name: table[name] for name in names}, ""
