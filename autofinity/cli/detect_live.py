"""`autofinity detect -- PROGRAM`: who shares with whom in a program that runs here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from autofinity.cli.given_options import given_options, refuse_options
from autofinity.cli.help import Command
from autofinity.cli.html_page import keep_page
from autofinity.cli.last_output import complain_unwritten
from autofinity.cli.matrix_out import heterogeneities, save_matrix
from autofinity.cli.printer import say, say_json
from autofinity.cli.program_given import refuse_program
from autofinity.linux.touch_sharing import TouchSharing
from autofinity.linux.unmapped_pages import NOTHING_UNMAPPED
from autofinity.model.errors import UsageError
from autofinity.model.sharing_metrics import average_exclusivity
from autofinity.report.heat_map import heat_lines
from autofinity.workflow.detect import DetectedHere, detect_here

_KEY = "autofinity.program"


class TraceOrProgram(Command):
    """A command whose words after `--` are a program with its arguments, byte for byte. The words
    before may name a `trace`, and no program.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what follows `--` from click."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_KEY] = tuple(args[at + 1 :])
            args = args[:at]
        rest = super().parse_args(ctx, args)
        trace = ctx.params.get("trace")
        if isinstance(trace, Path):
            refuse_program(trace, "a trace", f"{ctx.command_path} -- {{}}")
        return rest


def live_program(ctx: click.Context) -> tuple[str, ...] | None:
    """The program after `--`; None: there was none."""
    program: tuple[str, ...] | None = ctx.meta.get(_KEY)
    return program


_OF_REPLAYS = ("latencies", "page_size", "hint", "source", "seed")
"""Parameters of a trace's replay."""


def refuse_machine(ctx: click.Context) -> None:
    """Raise `UsageError` for the --machine of a program that runs here, and for other options that
    only replays have.
    """
    refuse_options(_OF_REPLAYS, "a program that runs is on this machine, and nothing is replayed")
    if given_options(("machine",)) and ctx.params["machine"] != "host":
        raise UsageError(
            f"--machine {ctx.params['machine']}: a program that runs is on this machine; expected "
            "no --machine, or a trace, which is replayed there"
        )


def detect_live(
    program: Sequence[str], out: Path | None, html: Path | None, *, arm: bool, as_json: bool
) -> int:
    """Run the program, say who shared with whom; its exit code. Raises `CapabilityError`.

    The program's output is its own: the report goes to stderr, or with `as_json` to stdout (and
    the program's to stderr). A report that cannot be written changes no exit code.
    """
    here = detect_here(program, arm=arm, to_stderr=as_json)
    if not here.started and not as_json:
        return here.exit_code  # as has been said
    seen, by = here.seen, ", ".join(here.events)
    title = f"{Path(program[0]).name}, by {by}"
    try:
        if as_json:
            say_json(_document(program, here, by))
        else:
            _print(title, here)
        save_matrix(seen.sharing, title, out)
        if html is not None:
            _keep_page(html, Path(program[0]).name, by, seen)
    except OSError as error:
        complain_unwritten("the report", error)
    return here.exit_code


def _print(title: str, here: DetectedHere) -> None:
    seen = here.seen
    say(title, err=True)
    for line in heat_lines(seen.sharing):
        say(line, err=True)
    say(
        f"{len(seen.tids)} threads, {seen.touches} seen on {len(seen.pages.pages)} pages, "
        f"exclusivity {_exclusivity(seen):.1%}",
        err=True,
    )
    if here.lost:
        say(f"{here.lost} more were lost, because they came too fast", err=True)
    if here.numa_hinting and here.why_not_sampled and here.pages_unmapped == 0:
        say(NOTHING_UNMAPPED, err=True)
    if not here.numa_hinting and here.why_not_sampled:
        say(
            f"accesses are not sampled ({here.why_not_sampled}), and each page faulted only at "
            "its first touch (kernel.numa_balancing is 0); as root, --arm switches on NUMA "
            "hinting on the whole system during the run",
            err=True,
        )


def _keep_page(path: Path, name: str, by: str, seen: TouchSharing) -> None:
    from autofinity.report.sharing_page import sharing_sections

    facts = (
        ("threads", str(len(seen.tids))),
        ("touches seen", str(seen.touches)),
        ("exclusivity of pages", f"{_exclusivity(seen):.1%}"),
    )
    rows = [f"thread {number} (tid {tid})" for number, tid in enumerate(seen.tids)]
    sections = sharing_sections(seen.sharing, facts, seen.pages, rows, "touches seen")
    keep_page(path, f"Sharing in {name}", f"Seen here, by {by}.", sections)


def _document(program: Sequence[str], here: DetectedHere, by: str) -> dict[str, object]:
    seen = here.seen
    return {
        "program": list(program),
        "exit_code": here.exit_code,
        "with": by,
        "numa_hinting": here.numa_hinting,
        "pages_unmapped": here.pages_unmapped,
        "tids": list(seen.tids),
        "sharing": [list(row) for row in seen.sharing.cells],
        **heterogeneities(seen.sharing),
        "touches": seen.touches,
        "touches_lost": here.lost,
        "pages": len(seen.pages.pages),
        "exclusivity": _exclusivity(seen),
    }


def _exclusivity(seen: TouchSharing) -> float:
    """Exclusivity of pages to threads, as if each thread had a node of its own."""
    threads = len(seen.tids)
    return average_exclusivity(seen.pages.by_node(range(threads), threads))
