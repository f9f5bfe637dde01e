"""`autofinity status`: what runs now, the programs in the behaviour database, the latest runs."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.output import STDOUT, OutputFile
from autofinity.cli.options.run import database_option
from autofinity.cli.page import print_table
from autofinity.cli.printer import hand_over, is_endless, page, say_json
from autofinity.foreign_text import one_line
from autofinity.model.errors import UsageError
from autofinity.runtime.claims import monitor_of
from autofinity.workflow.run_records import Status, status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from autofinity.store.behaviour_rows import Known, RunRecord

FOLDED = ("program", "hint", "CPUs", "notes")
"""Columns whose words may be longer than a terminal is wide."""


def _target(context: click.Context, option: click.Parameter, given: str | None) -> Path | None:
    """The file for metrics, once it can be written; `-` stays."""
    if given is None or given == STDOUT:
        return None if given is None else Path(STDOUT)
    path = OutputFile().convert(given, option, context)
    assert isinstance(path, Path)
    return path


@click.command(cls=Command)
@database_option
@click.option(
    "--runs",
    "limit",
    type=click.IntRange(min=0, max=1_000_000),
    default=10,
    show_default=True,
    help="Number of runs to list.",
)
@json_option
@click.option(
    "--metrics",
    callback=_target,
    metavar="FILE",
    help="Print nothing else; write counts to FILE (-: standard output) in the OpenMetrics format, "
    "for the textfile collector of node_exporter. FILE appears as a whole or not at all.",
)
def command(db: Path | None, limit: int, as_json: bool, metrics: Path | None) -> None:
    """List known programs with their hints, running programs and the latest runs."""
    if metrics is not None:
        if as_json:
            raise UsageError(
                "--metrics prints nothing else; expected --metrics or --json, not both"
            )
        _write_metrics(db, metrics)
        return
    found = status(db, limit)
    if as_json:
        say_json(_document(found), indent=2)
    else:
        _print(found)
    if found.damage is not None:
        raise found.damage


def _write_metrics(db: Path | None, target: Path) -> None:
    from autofinity.report.open_metrics import open_metrics_text
    from autofinity.whole_file import replace_file
    from autofinity.workflow.status_metrics import status_metrics

    text = open_metrics_text(status_metrics(db))
    if target == Path(STDOUT):
        hand_over(text)
    else:
        replace_file(target, text, durable=False)


def _print(found: Status) -> None:
    console = page()
    if not found.known and not found.runs:
        path = one_line(str(found.database))
        console.print(f"no program is known yet ({path}); `autofinity run -- PROGRAM` records one")
    if found.known:
        print_table(_programs(found.known), console)
    if found.live:
        print_table(_running(found.live), console)
    if found.runs:
        between = "; " if is_endless(console) else "\n"
        elsewhere = {"notes": "see `autofinity explain RUN`"}
        print_table(_latest(found.runs, between), console, elsewhere)
    if found.rebuild_due:
        console.print("enough new runs are recorded for retraining: run `autofinity rebuild`")
    for site, count in found.waiting.items():
        console.print(
            one_line(f"{count} finished runs wait to be sent to {site}: `autofinity push`")
        )
    for line in found.lost:
        console.print(one_line(line))


def _programs(known: Sequence[Known]) -> Table:
    table = _titled("programs", "program", "threads", "hint", "policy", "measured by", "sampled")
    for row in known:
        _add(
            table,
            row.path,
            str(row.threads),
            _answer(row),
            row.policy[:12] if row.policy else "-",
            row.tier,
            _when(row.sampled_at),
        )
    return table


def _answer(row: Known) -> str:
    if row.hint is None:
        return "-"
    return row.hint.shown if row.order == "near home" else f"{row.hint.shown}, {row.order}"


def _running(live: Sequence[RunRecord]) -> Table:
    table = _titled(
        "running", "run", "pid", "program", "threads", "phase", "hint", "CPUs", "monitor"
    )
    for run in live:
        _add(
            table,
            str(run.id),
            str(run.pid),
            run.path,
            str(run.threads or "-"),
            run.phase or "starting",
            run.hint.shown if run.hint else "-",
            run.cpus or "-",
            "alive" if monitor_of(run).alive else "gone",
        )
    return table


def _latest(runs: Sequence[RunRecord], between: str) -> Table:
    """The runs, with that `between` two notes."""
    table = _titled(
        "latest runs",
        *("run", "program", "pid", "started", "lasted", "threads", "hint", "bound", "notes"),
    )
    for run in runs:
        _add(
            table,
            str(run.id),
            run.path.rpartition("/")[2] or run.path,
            str(run.pid),
            _when(run.started),
            f"{run.ended - run.started:.4g} s" if run.ended else "-",
            str(run.threads or "-"),
            run.hint.shown if run.hint else "-",
            str(run.bound),
            notes=(run.notes.replace("\n", between),),
        )
    return table


def _titled(title: str, *headings: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold" if heading in FOLDED else "ellipsis")
    return table


def _add(table: Table, *cells: str, notes: tuple[str, ...] = ()) -> None:
    table.add_row(*map(one_line, cells), *notes)


def _when(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except (ValueError, OverflowError, OSError):  # no time that a calendar has
        return "?"


def _document(found: Status) -> dict[str, object]:
    return {
        "database": str(found.database),
        "rebuild_due": found.rebuild_due,
        "programs": [_with_letters(row) for row in found.known],
        "running": [run.id for run in found.live],
        "runs": [_with_letters(run) for run in found.runs],
        "lost": list(found.lost),
        "waiting": dict(found.waiting),
    }


def _with_letters(row: Known | RunRecord) -> dict[str, object]:
    return asdict(row) | {"hint": str(row.hint) if row.hint else None}
