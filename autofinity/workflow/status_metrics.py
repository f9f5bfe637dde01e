"""The behaviour database in numbers: gauges for a site's monitoring.

No name of a program, path, policy or host is among them. Labels take values of fixed lists; what a
row has beyond these counts as `other`, so that no database can make many time series.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import get_args

from autofinity import __version__
from autofinity.linux.capabilities import TIERS
from autofinity.model.affinity import HINTS
from autofinity.report.open_metrics import Gauge, Sample
from autofinity.runtime.claims import live_runs, monitor_of
from autofinity.runtime.live_state import Phase
from autofinity.runtime.threads_now import cpus_of
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import default_path
from autofinity.store.behaviour_rows import RunRecord
from autofinity.store.behaviour_totals import Totals, totals_of
from autofinity.store.rebuild_mark import RebuildMark
from autofinity.workflow.run_records import lost_lines

OTHER = "other"
_STARTING = "starting"
_NO_HINT = "none"
PHASES: tuple[str, ...] = (_STARTING, *get_args(Phase.__value__))
"""Values of the label `phase`, without `OTHER`."""
_LAST_TIME_S = 253_402_300_799.0  # the year 9999: later times are damage


def status_metrics(db: Path | None) -> tuple[Gauge, ...]:
    """Gauges of the given database, or of the one in the state folder, which may not exist yet.

    Raises `StoreError`.
    """
    path = db or default_path()
    lost = len(lost_lines(path))
    if db is None and not path.exists():
        return _gauges(Totals(), (), due=False, lost=lost, damaged=0)
    with BehaviourDB.open(path, read_only=True) as database:
        totals, live, due = (
            totals_of(database.session),
            live_runs(database),
            RebuildMark(database.session).due(),
        )
        return _gauges(totals, live, due=due, lost=lost, damaged=len(database.damaged))


def _gauges(
    totals: Totals, live: tuple[RunRecord, ...], *, due: bool, lost: int, damaged: int
) -> tuple[Gauge, ...]:
    start = totals.latest_start_s
    known = start is not None and 0 <= start <= _LAST_TIME_S
    claimed = {cpu for run in live for cpu in cpus_of(run.cpus)}
    hints = {(letters or _NO_HINT): count for letters, count in totals.hints.items()}
    phases = Counter(run.phase or _STARTING for run in live)
    gone = sum(not monitor_of(run).alive for run in live)
    return (
        _one("build", "The version of autofinity that wrote this file; always 1.", 1, version=True),
        _one("programs", "Programs in the behaviour database.", totals.programs),
        _by("program_hints", "Programs at a thread count, by hint.", "hint", _HINTS, hints),
        _by("runs", "Runs in the database, by what measured them.", "tier", TIERS, totals.runs),
        _one("bound_runs", "Runs in the database that bound threads.", totals.bound_runs),
        _by(
            "observations",
            "Rows that a policy may be learned from, by what measured them.",
            "tier",
            TIERS,
            totals.observations,
        ),
        _one("waiting_runs", "Finished runs that wait for a site's database.", totals.waiting),
        _one("rebuild_due", "1: enough new rows for `autofinity rebuild`.", int(due)),
        Gauge(
            "autofinity_latest_run_start_timestamp_seconds",
            "Start of the latest run, since the epoch; absent without a run.",
            [Sample(float(start), _user())] if known and start is not None else [],
            "seconds",
        ),
        _by("live_runs", "Programs that run under autofinity now.", "phase", PHASES, phases),
        _one("live_runs_without_monitor", "Live runs whose monitor is gone.", gone),
        Gauge(
            "autofinity_claimed_cpus",
            "CPUs that live runs claim.",
            [Sample(len(claimed), _user())],
            "cpus",
        ),
        _one("lost_writes_log_lines", "Lines in the log of rows that monitors lost.", lost),
        _one("damaged_rows", "Rows of live runs that could not be read.", damaged),
    )


_HINTS = (*map(str, HINTS), _NO_HINT)


def _user() -> dict[str, str]:
    # Files of several users lie in one folder of the collector, which refuses equal time series.
    return {"uid": str(os.getuid())}


def _one(name: str, said: str, value: int, *, version: bool = False) -> Gauge:
    labels = _user() | ({"version": __version__} if version else {})
    return Gauge(f"autofinity_{name}", said, [Sample(value, labels)])


def _by(
    name: str, said: str, label: str, values: Iterable[str], counts: Mapping[str, int]
) -> Gauge:
    """A gauge with a sample for each of the `values`, and one for all others together."""
    expected = tuple(values)
    others = sum(count for value, count in counts.items() if value not in expected)
    shown = {value: counts.get(value, 0) for value in expected} | {OTHER: others}
    return Gauge(
        f"autofinity_{name}",
        said,
        [Sample(count, _user() | {label: value}) for value, count in shown.items()],
    )
