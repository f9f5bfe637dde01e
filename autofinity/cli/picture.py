"""Printing the picture of a machine, for the commands that place threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autofinity.cli.printer import page
from autofinity.foreign_text import one_line

if TYPE_CHECKING:
    from autofinity.model.topology import OsIndex, Topology


def print_picture(
    topology: Topology,
    machine: str,
    available: frozenset[OsIndex] | None,
    cpus: Sequence[OsIndex] | None,
    said: str,
) -> None:
    """The machine on stdout, with threads on `cpus` and what is `said` of them; last, its key.

    In colour on terminals; in ASCII where the encoding has no more.
    """
    from rich.text import Text

    from autofinity.report.picture import draw, key, summary

    console = page(wide=False)
    # A line as wide as a terminal wraps on some of them.
    width = console.width - 1 if console.is_terminal else console.width
    picture = Text(f"{one_line(machine)}\n", style="bold")
    for line in summary(topology):
        picture.append(one_line(line) + "\n", style="not bold")
    if said:
        picture.append(one_line(said) + "\n", style="not bold")
    picture.append_text(draw(topology, width, cpus, available))
    picture.rstrip()
    picture.append("\n" + key(topology, cpus, available), style="dim")
    if not console.encoding.lower().startswith("utf"):
        picture.plain = picture.plain.translate(_ASCII)
    console.print(picture, soft_wrap=True)


_ASCII = str.maketrans("┌┐└┘─│·…", "++++-|..")
