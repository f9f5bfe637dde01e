"""`autofinity capture`: run a suite's programs under capture and keep their traces."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from autofinity.trace.manifest import Suite
    from autofinity.trace.meta import TraceMeta


@click.command()
@click.option(
    "--suite",
    "suite_path",
    type=click.Path(path_type=Path),
    help="Suite manifest (TOML).  [default: the training suite that is shipped]",
)
@click.option(
    "--program",
    "-p",
    "programs",
    multiple=True,
    help="Only this program of the suite; may be given several times.",
)
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1, max=4096),
    default=8,
    show_default=True,
    help="Threads of each program.",
)
@click.option("--size", default="small", show_default=True, help="Input by size.")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder for the traces, PROGRAM-SIZE-THREADSt each; finished ones are reused.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    suite_path: Path | None,
    programs: tuple[str, ...],
    threads: int,
    size: str,
    out: Path,
    as_json: bool,
) -> None:
    """Run a suite's programs under capture and keep their traces."""
    from autofinity.resources import shipped
    from autofinity.trace.manifest import load_suite

    suite = load_suite(suite_path or shipped("training", "suite.toml"))
    traces = capture_traces(suite, programs, threads, size, out)
    if as_json:
        click.echo(json.dumps([_document(meta) for meta in traces]))
    else:
        _print(traces)


def capture_traces(
    suite: Suite,
    programs: tuple[str, ...],
    threads: int,
    size: str,
    out: Path,
    quiet: bool = False,
    keep_going: bool = False,
) -> list[TraceMeta]:
    """`capture_suite` with a progress bar; what is left out is named on stderr with its reason."""
    from autofinity.capture.campaign import CaptureReport, capture_suite
    from autofinity.cli.progress import progress

    left_out: list[CaptureReport] = []
    with progress(f"capture {threads}t", len(suite.pick(programs)), quiet) as bar:

        def report(now: CaptureReport) -> None:
            if now.stage == "skipped" or (now.stage == "failed" and keep_going):
                left_out.append(now)
            if now.stage in ("done", "skipped", "failed"):
                bar.step(now.program)

        traces = capture_suite(suite, programs, threads, size, out, report, keep_going=keep_going)
    for now in left_out:
        print(f"autofinity: {now.program} is left out: {now.reason}", file=sys.stderr)
    return traces


def _document(meta: TraceMeta) -> dict[str, Any]:
    return {**asdict(meta), "path": str(meta.path), "workers": list(meta.workers())}


def _print(traces: list[TraceMeta]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("trace", box=None, pad_edge=False)
    for heading in ("streams", "M accesses", "in ROI", "M events", "MB", "CPU s"):
        table.add_column(heading, justify="right")
    table.add_column("instructions")
    for meta in traces:
        events = sum(stream.events for stream in meta.streams)
        table.add_row(
            meta.path.name,
            str(len(meta.streams)),
            f"{meta.accesses / 1e6:.1f}",
            f"{meta.roi_accesses / 1e6:.1f}",
            f"{events / 1e6:.2f}",
            f"{meta.bytes / 1e6:.1f}",
            f"{meta.cpu_s:.2f}",
            meta.instructions,
        )
    Console().print(table)
