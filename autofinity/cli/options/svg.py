"""`--svg`, of the commands that show a machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.options.output import OutputFile
from autofinity.cli.printer import say
from autofinity.foreign_text import one_line

if TYPE_CHECKING:
    from autofinity.model.devices import Device
    from autofinity.model.topology import OsIndex, Topology

svg_option = click.option(
    "--svg",
    metavar="FILE",
    type=OutputFile(),
    help="Also write the picture of the machine to this file, as SVG.",
)


def keep_svg(
    path: Path,
    topology: Topology,
    machine: str,
    available: frozenset[OsIndex] | None,
    cpus: Sequence[OsIndex] | None,
    said: str,
    devices: Sequence[Device] = (),
) -> None:
    """Write the machine, threads on `cpus`, and `said` above it. Raises `OSError`."""
    from autofinity.report.machine_drawing import OnMachine, machine_svg
    from autofinity.report.picture import summary
    from autofinity.whole_file import replace_file

    shown = OnMachine() if cpus is None else OnMachine.seated(cpus)
    lines = [machine, *summary(topology), *([said] if said else [])]
    replace_file(path, machine_svg(topology, shown, available, lines, devices), durable=False)
    say(one_line(f"picture: kept in {path}"), err=True)
