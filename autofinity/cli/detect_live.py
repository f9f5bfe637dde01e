"""`autofinity detect -- PROGRAM`: who shares with whom in a program that runs here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from autofinity.cli.matrix_out import save_matrix
from autofinity.linux.access_events import PAGE_FAULTS
from autofinity.linux.address_sampling import usable_events
from autofinity.linux.numa_hinting import armed, hinting_is_on
from autofinity.linux.touch_sharing import TouchSharing
from autofinity.linux.watched_program import watch_touches
from autofinity.model.sharing_metrics import average_exclusivity, heterogeneity_off_diagonal
from autofinity.report.heat_map import heat_lines

_KEY = "autofinity.program"


class TraceOrProgram(click.Command):
    """A command whose words after `--` are a program with its arguments, byte for byte."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what follows `--` from click."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_KEY] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


def live_program(ctx: click.Context) -> tuple[str, ...] | None:
    """What followed `--`; None: there was none."""
    program: tuple[str, ...] | None = ctx.meta.get(_KEY)
    return program


def detect_live(program: Sequence[str], out: Path | None, *, arm: bool, as_json: bool) -> int:
    """Run the program, say who shared with whom; its exit code. Raises `CapabilityError`.

    The program's output is its own: the report goes to stderr, or with `as_json` to stdout (and
    the program's to stderr).
    """
    events, why_not = ((), "page faults were asked for") if arm else usable_events()
    with armed() if arm else nullcontext():
        hinting = hinting_is_on()
        code, tally, lost = watch_touches(
            program, events=events or (PAGE_FAULTS,), to_stderr=as_json
        )
    if code in (126, 127) and not tally.tids and not as_json:
        return code  # it could not be run, as has been said
    by = ", ".join(event.name for event in events or (PAGE_FAULTS,))
    title = f"{Path(program[0]).name}, by {by}"
    save_matrix(tally.sharing, title, out)
    if as_json:
        click.echo(json.dumps(_document(program, tally, code, lost, by, hinting=hinting)))
        return code
    click.echo(title, err=True)
    for line in heat_lines(tally.sharing):
        click.echo(line, err=True)
    click.echo(
        f"{len(tally.tids)} threads, {tally.touches} seen on {len(tally.pages.pages)} pages, "
        f"exclusivity {_exclusivity(tally):.1%}",
        err=True,
    )
    if lost:
        click.echo(f"{lost} more came too fast to be recorded", err=True)
    if not hinting and not events:
        click.echo(
            f"accesses are not sampled ({why_not}), and each page faulted at its first touch only "
            "(kernel.numa_balancing is 0); as root, --arm switches NUMA hinting on for the run, on "
            "the whole system, and back afterwards",
            err=True,
        )
    return code


def _document(
    program: Sequence[str], tally: TouchSharing, code: int, lost: int, by: str, *, hinting: bool
) -> dict[str, object]:
    return {
        "program": list(program),
        "exit_code": code,
        "with": by,
        "numa_hinting": hinting,
        "tids": list(tally.tids),
        "sharing": [list(row) for row in tally.sharing.cells],
        "heterogeneity": heterogeneity_off_diagonal(tally.sharing),
        "touches": tally.touches,
        "touches_lost": lost,
        "pages": len(tally.pages.pages),
        "exclusivity": _exclusivity(tally),
    }


def _exclusivity(tally: TouchSharing) -> float:
    """Of pages to threads, as if each had a node of its own."""
    threads = len(tally.tids)
    return average_exclusivity(tally.pages.by_node(range(threads), threads))
