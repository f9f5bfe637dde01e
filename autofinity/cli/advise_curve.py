"""`autofinity advise --curve`: how many threads, or CPUs, are worth having, as a table and bars."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from autofinity.cli.advise_page import keep_curve
from autofinity.cli.advise_policy import choice_here
from autofinity.cli.last_output import complain_unwritten
from autofinity.cli.page import print_table
from autofinity.cli.printer import complain, page, say, say_json, say_wrapped
from autofinity.cli.progress import Terminal
from autofinity.foreign_text import one_line
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.evaluation.speed_curve import Curve, Point

AUTO = "auto"


def counts_of(
    context: click.Context, option: click.Parameter, text: str | None
) -> tuple[int, ...] | None:
    """Counts of --curve; none of them for `auto`; None where it is not given."""
    if text is None:
        return None
    if text.strip() == AUTO:
        return ()
    try:
        counts = tuple(int(word) for word in text.split(","))
    except ValueError:
        counts = (0,)
    if min(counts) < 1:
        raise click.BadParameter(f"got {text!r}; expected auto, or counts such as 4,8,16")
    return counts


def check_curve_of(
    trace: Path | None,
    program: Sequence[str] | None,
    programs: Sequence[str],
    others: Sequence[object],
) -> None:
    """Raise `UsageError` unless exactly one program is given, and nothing of `others`."""
    if sum(map(bool, (trace, program, programs))) != 1 or any(others) or len(set(programs)) > 1:
        raise UsageError(
            "--curve: expected one of: the folder of a trace, --program NAME, "
            "`-- PROGRAM [ARGS]...`"
        )


def report_curve(curve: Curve, html: Path | None, *, as_json: bool, err: bool = False) -> None:
    """Print the curve, on stderr (`err`) where stdout is a program's, and write its page."""
    _tell(curve, as_json=as_json, err=err)
    if html is not None:
        keep_curve(html, curve)


def curve_of_launched(
    program: Sequence[str],
    counts: Sequence[int],
    policy: str | None,
    repeats: int,
    html: Path | None,
    *,
    as_json: bool,
) -> NoReturn:
    """Run a program here at each count, report, and exit as it did."""
    from autofinity.workflow.advice.curve_here import curve_here

    choice_here(policy)
    done = curve_here(
        program, counts, policy=policy, repeats=repeats, to_stderr=as_json, reporter=Terminal()
    )
    try:
        if done.failed_at is not None:
            complain(
                f"{one_line(program[0])} ended with exit code {done.exit_code} at {done.failed_at} "
                "threads: no other count was tried"
            )
        if done.curve is not None:
            report_curve(done.curve, html, as_json=as_json, err=not as_json)
        elif as_json:
            say_json({"program": program[0], "exit_code": done.exit_code, "points": []}, indent=2)
    except OSError as error:
        complain_unwritten("the curve", error)
    sys.exit(done.exit_code)


def _tell(curve: Curve, *, as_json: bool, err: bool) -> None:
    if as_json:
        say_json(_document(curve), indent=2)
        return
    title = one_line(f"{curve.counted} of {curve.program}, on {curve.machine}")
    say_wrapped(title, "", f"{curve.counted}: {curve.advice}", err=err)
    _print_table(curve, err=err)
    for line in _bars(curve):
        say(line, err=err)
    if len(curve.points) > 1:
        say_wrapped(f"  {curve.on_noise}", err=err)
    say_wrapped(*(f"  {one_line(line)}" for line in curve.notes), err=err)


def _document(curve: Curve) -> dict[str, object]:
    return {
        "program": curve.program,
        "machine": curve.machine,
        "counted": curve.counted,
        "advice": curve.advice,
        "enough": curve.count_of(curve.enough),
        "noise": curve.noise,
        "scatter": curve.scatter,
        "differences": curve.on_noise,
        "alike": [curve.count_of(point) for point in curve.alike],
        "points": [_point(curve, point) for point in curve.points],
        "notes": list(curve.notes),
    }


def _point(curve: Curve, point: Point) -> dict[str, object]:
    best = not math.isnan(point.best_s)
    return {
        "threads": point.threads,
        "cpus": point.cpus or None,
        "cores": point.cores or None,
        "time_s": point.time_s,
        "scatter": point.scatter,
        "speed": curve.speed(point.time_s),
        "hint": str(point.hint) if point.hint else None,
        "read_gbs": point.read_gbs,
        "best_hint": str(point.best_hint) if point.best_hint else None,
        "best_time_s": point.best_s if best else None,
    }


def _print_table(curve: Curve, *, err: bool) -> None:
    from rich.table import Table

    from autofinity.policy.readable import hints_key

    columns = [
        curve.counted,
        "cores",
        "time",
        "±",
        "speed",
        "from memory",
        "placed by",
        "best hint",
    ]
    shown = {
        "cores": any(point.cores for point in curve.points),
        "±": any(point.scatter is not None for point in curve.points),
        "best hint": any(point.best_hint for point in curve.points),
    }
    kept = [name for name in columns if shown.get(name, True)]
    table = Table(*kept)
    for point in curve.points:
        scatter, reads = point.scatter, point.read_gbs
        cells = {
            curve.counted: str(curve.count_of(point)),
            "cores": str(point.cores),
            "time": _time(point.time_s),
            "±": "" if scatter is None else f"{scatter:.1%}",
            "speed": f"{curve.speed(point.time_s):.2f}",
            "from memory": "not counted" if reads is None else f"{reads:.2f} GB/s",
            "placed by": str(point.hint or "the system"),
            "best hint": f"{point.best_hint or ''} {_time(point.best_s)}",
        }
        table.add_row(*(cells[name] for name in kept))
    for column in table.columns:
        column.justify = "right"
    print_table(table, page(err=err))
    hints = {hint for point in curve.points for hint in (point.hint, point.best_hint) if hint}
    if hints:
        say(hints_key(hints), err=err)


def _bars(curve: Curve) -> list[str]:
    from autofinity.report.chart import Chart
    from autofinity.report.chart_text import chart_lines

    series = {"as placed": tuple(curve.speed(point.time_s) for point in curve.points)}
    if any(point.best_hint for point in curve.points):
        series["best hint"] = tuple(curve.speed(point.best_s) for point in curve.points)
    positions = tuple(map(curve.name_of, curve.points))
    chart = Chart("", curve.counted, "speed", positions, series)
    return chart_lines(chart, min(shutil.get_terminal_size().columns, 80))[1:]


def _time(seconds: float) -> str:
    if math.isnan(seconds):
        return ""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
