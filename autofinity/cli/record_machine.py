"""`autofinity record-machine`: a machine file of the machine this runs on."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.json import json_option
from autofinity.cli.options.output import output_option
from autofinity.cli.printer import hand_over, say, say_json
from autofinity.cli.progress import Terminal


@click.command(cls=Command)
@output_option("File for the machine.  [default: standard output]", stdout=True)
@click.option("--name", help="Name of the machine.  [default: that of the file, or host]")
@click.option("--quick", is_flag=True, help="Use fewer rounds: seconds instead of a minute.")
@json_option
def command(output: Path | None, name: str | None, quick: bool, as_json: bool) -> None:
    """Measure this machine and write a machine file for simulation and training.

    Topology, sizes and page size come from hwloc, sysfs and CPUID; latencies of every cache level,
    of memory and from core to core, bandwidths of memory and between nodes, the cost of TLB misses
    and of switching, waking and moving threads are measured. Each value names its method and the
    variation between rounds. A value that cannot be measured here (one node, one core, no
    permission) is marked E, with its source.

    Run this command on an idle machine. --json prints the result as `autofinity machines --json`
    does.
    """
    from autofinity.cli.machines import document
    from autofinity.workflow.record_machine import record_machine

    made = record_machine(
        name or (output.stem if output else "host"),
        quick=quick,
        output=output,
        reporter=Terminal(),
    )
    if as_json:
        say_json(document(made.spec))
    elif output is None:
        hand_over(made.text)
    else:
        say(f"autofinity simulate TRACE --machine {output} simulates it", err=True)
