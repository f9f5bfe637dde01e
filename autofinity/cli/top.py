"""`autofinity top`: the runs of this user as they go on, on the terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.run import database_option
from autofinity.cli.printer import page, say, say_json
from autofinity.linux.online import sysfs_root
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.topology import Topology
from autofinity.report.live_view import (
    View,
    fitted,
    memory_by_node,
    nodes_of,
    runs_view,
    threads_view,
    would_change,
)
from autofinity.runtime.runs_now import RunSeen, RunsWatcher, cpus_of
from autofinity.store.behaviour_file import default_path
from autofinity.workflow.decision_line import decision_line
from autofinity.workflow.run_records import database_named, run_now

_ONCE_S = 0.5
"""Time between the two looks of one view. The kernel counts CPU time in steps of 0.01 s."""


@click.command(cls=Command)
@click.argument("run", required=False, metavar="[RUN]")
@click.option(
    "--delay",
    "-d",
    "delay_s",
    metavar="SECONDS",
    type=click.FloatRange(min=0.1, max=86400),
    default=1.0,
    show_default=True,
    help="Time between two looks.",
)
@click.option(
    "--once",
    is_flag=True,
    help="Look twice, half a second apart, print one view and end; the default without a terminal.",
)
@database_option
@json_option
def command(run: str | None, delay_s: float, once: bool, db: Path | None, as_json: bool) -> None:
    """Show live runs: threads, their CPUs and nodes, memory by node, and the decision.

    RUN, a number of `autofinity status` or `last`, shows that run and its threads. Nothing is
    moved. Keys: q quits, arrows or j and k select, enter shows the threads of a run, esc goes back.
    """
    path = database_named(db) if db is not None else default_path()
    topology = read_sysfs(sysfs_root())
    number: int | None = None
    if run is not None:
        asked = run_now(run, database_named(db))
        number = asked.run.id
        if not asked.alive:
            _print_ended(RunSeen(asked.run, alive=False), topology, path, as_json=as_json)
            return
    watcher = RunsWatcher(path, topology, lambda record: number in (None, record.id))
    if once or as_json or not _on_terminal():
        _print_once(watcher, topology, path, number, as_json=as_json)
        return
    from autofinity.cli.top_screen import Screen

    Screen(
        watcher, topology, str(path), lambda record: decision_line(record, path), delay_s, number
    ).show()


def _on_terminal() -> bool:
    """Whether keys can come and a screen can be redrawn."""
    dumb = os.environ.get("TERM", "dumb") in ("dumb", "unknown", "")
    return sys.stdin.isatty() and sys.stdout.isatty() and not dumb


def _print_once(
    watcher: RunsWatcher, topology: Topology, path: Path, number: int | None, *, as_json: bool
) -> None:
    runs = watcher.look(number)
    if runs:  # CPU time has a rate only between two looks
        time.sleep(_ONCE_S)
        runs = watcher.look(number)
    live = [seen for seen in runs if seen.alive]
    if watcher.trouble is not None and not live:  # a run may be live
        raise watcher.trouble
    if number is not None and runs and not live:
        _print_ended(runs[0], topology, path, as_json=as_json)
    elif as_json:
        say_json(_document(live, topology, path), indent=2)
    elif number is None:
        _print(runs_view(live, topology, str(path)))
    else:
        for seen in live:
            _print(threads_view(seen, topology, decision_line(seen.run, path)))
    if watcher.trouble is not None:
        raise watcher.trouble


def _print_ended(seen: RunSeen, topology: Topology, path: Path, *, as_json: bool) -> None:
    if as_json:
        say_json(_document((seen,), topology, path), indent=2)
        return
    say(f"run {seen.run.id} has ended; `autofinity explain {seen.run.id}` shows its decision")


def _print(view: View) -> None:
    for line in fitted(view, page().width):
        say(line.text)


def _document(runs: Sequence[RunSeen], topology: Topology, path: Path) -> dict[str, object]:
    return {
        "database": str(path),
        "at_s": time.time(),
        "runs": [_run_document(seen, topology, path) for seen in runs],
    }


def _run_document(seen: RunSeen, topology: Topology, path: Path) -> dict[str, object]:
    run, cpus = seen.run, cpus_of(seen)
    memory = memory_by_node(seen, topology)
    return {
        "run": run.id,
        "pid": run.pid,
        "program": run.path,
        "alive": seen.alive,
        "watched": seen.watched,
        "phase": run.phase,
        "hint": str(run.hint) if run.hint else None,
        "hint_name": run.hint.name if run.hint else None,
        "decision": decision_line(run, path),
        "would_change": would_change(seen, topology),
        "claimed_cpus": run.cpus,
        "cpus": sorted(cpus),
        "node_os_indices": sorted(nodes_of(cpus, topology)),
        "memory_bytes_by_node": memory
        if memory is None
        else {str(node): size_bytes for node, size_bytes in memory.items()},
        "resident_bytes": seen.resident_bytes,
        "threads": [
            {
                "tid": each.task.tid,
                "pid": each.task.pid,
                "name": each.task.name,
                "cpu": each.task.cpu,
                "node_os_index": next(iter(nodes_of({each.task.cpu}, topology)), None),
                "running": each.task.runnable,
                "helper": each.task.helper,
                "cpu_s": each.task.cpu_ns / 1e9,
                "cpu_share": each.share,
            }
            for each in seen.threads
        ],
    }
