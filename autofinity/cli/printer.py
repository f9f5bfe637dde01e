"""The one way to the standard streams: nothing in foreign text reaches a terminal as a command.

    report                ─► say           unprintable characters are shown as escapes
    sentences             ─► say_wrapped   the same, within the width of a terminal
    notice, error         ─► complain      the same on stderr, a sentence
    --json                ─► say_json      JSON of plain ASCII
    a file on stdout      ─► hand_over     as it is into a pipe, as `say` onto a terminal
    tables and colours    ─► page          markup is for us alone: in a `str` it is data

Nothing else in this room prints (`tests/unit/cli/test_printer.py`).
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from autofinity.cli.closed_streams import check_stdout
from autofinity.cli.wrapped import room, wrapped
from autofinity.foreign_text import printable

if TYPE_CHECKING:
    from rich.console import Console

_UNBOUNDED = 10_000


def say(text: str = "", *, err: bool = False, newline: bool = True) -> None:
    """Text that may hold foreign text, on stdout or stderr; its newlines stay."""
    click.echo(printable(text), err=err, nl=newline)


def say_wrapped(*lines: str, err: bool = False, hang: int = 2) -> None:
    """Lines as `say` writes them, broken between words where a terminal is narrower; what goes on
    begins `hang` columns further in.
    """
    width = room(sys.stderr if err else sys.stdout)
    for line in printable("\n".join(lines)).split("\n"):
        for piece in [line] if width is None else wrapped(line, width, hang):
            say(piece, err=err)


def complain(message: str) -> None:
    """A sentence on stderr, which may be gone; what follows a newline cannot pass for another."""
    with suppress(OSError, ValueError):
        say("autofinity: " + message.replace("\n", "\n  "), err=True)


def say_json(document: object, indent: int | None = None) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, indent=indent).replace("\x7f", r"\u007f"))


def hand_over(text: str) -> None:
    """A file's text on stdout: its bytes into a pipe or a file, readable onto a terminal. Raises
    `AutofinityError` where stdout is closed.
    """
    check_stdout()
    click.echo(printable(text) if sys.stdout.isatty() else text, nl=False)


def page(*, err: bool = False, wide: bool = True) -> Console:
    """A console. If `wide`, a pipe has no width to keep to, unless COLUMNS gives it one."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Page(Console):
        def on_broken_pipe(self) -> None:
            """Who reads us went away: said where all commands say it, not here as an error."""
            raise BrokenPipeError

        def render_str(self, text: str, **how: Any) -> Text:
            """Before it is measured, so that columns stay straight."""
            return super().render_str(printable(text), **how)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Any:
            """And whatever came past that."""
            for segment in super().render(renderable, options):
                yield (
                    segment if segment.control else Segment(printable(segment.text), segment.style)
                )

    console = Page(highlight=False, markup=False, emoji=False, stderr=err)
    if wide and not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _UNBOUNDED
    return console


def is_endless(console: Console) -> bool:
    """Whether lines have no end, as in pipes and files."""
    return console.width >= _UNBOUNDED
