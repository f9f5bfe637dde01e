"""`autofinity capture`: run a suite's programs, or a binary, and keep their traces."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from autofinity.cli.help import Command
from autofinity.cli.interruption import keeps_results
from autofinity.cli.options.json import json_option
from autofinity.cli.options.program import program_files
from autofinity.cli.options.suite import programs_option, suite_option
from autofinity.cli.page import print_table
from autofinity.cli.printer import say_json
from autofinity.cli.progress import Terminal
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.trace.meta import TraceMeta


@click.command(
    cls=Command,
    # Arguments after the program's name are the program's own.
    context_settings={"allow_interspersed_args": False},
)
@suite_option
@programs_option
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1, max=4096),
    help="Threads of each program; for a binary, OMP_NUM_THREADS.  [default: 8; binary: its own]",
)
@click.option("--size", help="Input size of the suite's programs.  [default: small]")
@click.option(
    "--roi",
    type=click.Choice(("marks", "parallel", "whole")),
    help="Region of interest of a binary: between autofinity_roi_begin() and _end(), from the "
    "first thread to the last join, or the whole run.  [default: parallel]",
)
@click.option(
    "--sampled/--whole",
    "sample",
    default=None,
    help="Record windows of a few million accesses in all, and between windows only the lines "
    "that threads touched last. Short regions are recorded whole.  [default: --whole for the "
    "sizes tiny, small, medium, core and llc]",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("traces"),
    show_default=True,
    help="Folder for the traces, named PROGRAM-SIZE-THREADSt; complete traces of a suite are "
    "reused.",
)
@json_option
@click.argument(
    "binary",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[-- PROGRAM [ARGS]...]",
    shell_complete=program_files,
)
def command(
    suite_path: Path | None,
    programs: tuple[str, ...],
    threads: int | None,
    size: str | None,
    roi: Literal["marks", "parallel", "whole"] | None,
    sample: bool | None,
    output: Path,
    as_json: bool,
    binary: tuple[str, ...],
) -> None:
    """Run a suite's programs, or any one program, under capture and keep the traces.

    Without PROGRAM, the suite's programs are compiled for capture and run. With PROGRAM, that
    binary runs unchanged under QEMU, on the standard streams of this command; with --json its
    output goes to stderr.
    """
    if binary:
        for option, value in (("--suite", suite_path), ("--program", programs), ("--size", size)):
            if value:
                raise UsageError(
                    f"{option} applies to a suite; expected no {option} with the binary {binary[0]}"
                )
        if sample:
            raise UsageError(
                f"--sampled applies to a suite; expected no --sampled with the binary {binary[0]}"
            )
        from autofinity.capture.binary import BinaryRequest
        from autofinity.workflow.capture import capture_program

        _check_output(output)
        request = BinaryRequest(binary, output, threads, roi or "parallel", to_stderr=as_json)
        _show([capture_program(request, Terminal())], as_json)
    else:
        from autofinity.resources import shipped
        from autofinity.trace.manifest import load_suite
        from autofinity.workflow.capture import capture_traces

        if roi is not None:
            raise UsageError(
                "--roi applies to a binary; the manifest of a suite sets the region of each program"
            )
        suite = load_suite(suite_path or shipped("training", "suite.toml"))
        _check_output(output)
        keeps_results()
        traces: list[TraceMeta] = []
        try:
            capture_traces(
                suite,
                programs,
                threads or 8,
                size or "small",
                output,
                sample="auto" if sample is None else "always" if sample else "never",
                reporter=Terminal(),
                captured=traces.append,
            )
        finally:  # also what is complete when a program fails, or Ctrl-C ends the rest
            if traces:
                _show(traces, as_json)


def _check_output(folder: Path) -> None:
    """Raise `UsageError` for a folder that cannot be made or written."""
    from autofinity.new_folder import why_not_made

    if reason := why_not_made(folder):
        raise UsageError(f"cannot make the folder {folder}: {reason}; choose another with -o")


def _show(traces: list[TraceMeta], as_json: bool) -> None:
    if as_json:
        say_json([_document(meta) for meta in traces])
    else:
        _print(traces)


def _document(meta: TraceMeta) -> dict[str, Any]:
    return {**asdict(meta), "path": str(meta.path), "workers": list(meta.workers())}


def _print(traces: list[TraceMeta]) -> None:
    from rich.table import Column, Table

    table = Table(Column("trace", overflow="fold"), box=None, pad_edge=False)
    for heading in ("streams", "M accesses", "in ROI", "windows", "M events", "MB", "CPU s"):
        table.add_column(heading, justify="right")
    table.add_column("instructions")
    for meta in traces:
        events = sum(stream.events for stream in meta.streams)
        table.add_row(
            str(meta.path),
            str(len(meta.streams)),
            f"{meta.accesses / 1e6:.1f}",
            f"{meta.roi_accesses / 1e6:.1f}",
            "all" if meta.sampling is None else str(meta.sampling.windows),
            f"{events / 1e6:.2f}",
            f"{meta.bytes / 1e6:.1f}",
            f"{meta.cpu_s:.2f}",
            meta.instructions,
        )
    print_table(table)
