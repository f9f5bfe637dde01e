"""`autofinity status`: what runs now, the programs in the behaviour database, the latest runs."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path

import click

from autofinity.cli.page import page, print_table
from autofinity.runtime.claims import live_runs, monitor_of
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import default_path
from autofinity.store.behaviour_rows import Known, RunRecord

FOLDED = ("program", "CPUs")
"""Columns whose words may be longer than a terminal is wide."""


@click.command()
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Behaviour database.  [default: the one in the state folder]",
)
@click.option("--runs", "limit", default=10, show_default=True, help="How many runs to list.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(db: Path | None, limit: int, as_json: bool) -> None:
    """Known programs and their hints, what runs now and where, and the latest runs."""
    path = db or default_path()
    if db is None and not path.exists():
        known: tuple[Known, ...] = ()
        runs: tuple[RunRecord, ...] = ()
        live: tuple[RunRecord, ...] = ()
        due = False
    else:
        with BehaviourDB.open(path, read_only=True) as database:
            known, runs, due = database.programs(), database.runs(limit), database.rebuild_due()
            live = live_runs(database)
    log = _lost(path)
    if as_json:
        print(json.dumps(_document(path, known, live, runs, due, log), indent=2))
        return
    _print(path, known, live, runs, due, log)


def _print(
    path: Path,
    known: tuple[Known, ...],
    live: tuple[RunRecord, ...],
    runs: tuple[RunRecord, ...],
    due: bool,
    log: list[str],
) -> None:
    from rich.markup import escape
    from rich.table import Table

    def titled(title: str, *headings: str) -> Table:
        table = Table(box=None, pad_edge=False, title=title, title_justify="left")
        for heading in headings:
            table.add_column(heading, overflow="fold" if heading in FOLDED else "ellipsis")
        return table

    console = page()
    if not known and not runs:
        console.print(f"nothing is known yet ({escape(str(path))}); `autofinity run` finds out")
    if known:
        table = titled("programs", "program", "threads", "hint", "policy", "measured by", "sampled")
        for row in known:
            table.add_row(
                escape(row.path),
                str(row.threads),
                str(row.hint) if row.hint else "-",
                row.policy[:12] if row.policy else "-",
                row.tier,
                _when(row.sampled_at),
            )
        print_table(table, console)
    if live:
        table = titled(
            "running", "run", "pid", "program", "threads", "phase", "hint", "CPUs", "monitor"
        )
        for run in live:
            table.add_row(
                str(run.id),
                str(run.pid),
                escape(run.path),
                str(run.threads or "-"),
                run.phase or "starting",
                run.hint or "-",
                run.cpus or "-",
                "alive" if monitor_of(run).alive else "gone",
            )
        print_table(table, console)
    if runs:
        table = titled(
            "latest runs", "run", "pid", "started", "ended", "threads", "hint", "bound", "notes"
        )
        for run in runs:
            table.add_row(
                str(run.id),
                str(run.pid),
                _when(run.started),
                _when(run.ended) if run.ended else "-",
                str(run.threads or "-"),
                run.hint or "-",
                str(run.bound),
                escape(run.notes),
            )
        print_table(table, console)
    if due:
        console.print("there is enough new to learn a policy from: `autofinity rebuild` does it")
    for line in log:
        console.print(escape(line))


def _lost(path: Path) -> list[str]:
    try:
        return path.with_name("monitor.log").read_text(encoding="utf-8").splitlines()[-5:]
    except (OSError, UnicodeDecodeError):
        return []


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _document(
    path: Path,
    known: tuple[Known, ...],
    live: tuple[RunRecord, ...],
    runs: tuple[RunRecord, ...],
    due: bool,
    log: list[str],
) -> dict[str, object]:
    return {
        "database": str(path),
        "rebuild_due": due,
        "programs": [asdict(row) | {"hint": str(row.hint) if row.hint else None} for row in known],
        "running": [run.id for run in live],
        "runs": [asdict(run) for run in runs],
        "lost": log,
    }
