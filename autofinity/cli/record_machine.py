"""`autofinity record-machine`: a machine file of the machine this runs on."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.options.json import json_option
from autofinity.cli.options.output import output_option
from autofinity.cli.printer import hand_over, say, say_json
from autofinity.cli.progress import Terminal


@click.command()
@output_option("Where the machine file goes.  [default: standard output]")
@click.option("--name", help="What the machine is called.  [default: that of the file, or host]")
@click.option("--quick", is_flag=True, help="Fewer rounds and less memory: seconds, not a minute.")
@json_option
def command(output: Path | None, name: str | None, quick: bool, as_json: bool) -> None:
    """Measure this machine and write a machine file, to simulate it and to train for it.

    Topology, sizes and page size come from hwloc, sysfs and CPUID; latencies of every cache level,
    of memory and from core to core, bandwidths of memory and between nodes, the cost of TLB misses
    and of switching, waking and moving threads are measured. Each value says how, and how far the
    rounds were apart. What cannot be measured here (one node, one core, no permission) is marked E
    with where the value is from.

    Run it on an idle machine. --json prints what `autofinity machines --json` says of the result.
    """
    from autofinity.cli.machines import document
    from autofinity.workflow.record_machine import record_machine

    if output is not None and not output.parent.is_dir():
        raise click.BadParameter(f"the folder {output.parent} is not there", param_hint="--output")
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
