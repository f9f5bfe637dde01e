"""Which machine, how many threads, which CPUs: options that several commands share."""

from __future__ import annotations

import click

from autofinity.cli.printer import complain
from autofinity.linux.gaps import gaps
from autofinity.model.topology import Topology
from autofinity.workflow.devices import near_device

topology_option = click.option(
    "--machine",
    "-m",
    default="host",
    show_default=True,
    help="host, a preset (see `autofinity machines`), a machine file, an hwloc XML file, or "
    "'synthetic:pack:4 numa:2 l3:1 core:6 pu:1'.",
)
_SIMULATED = (
    "A preset (see `autofinity machines`), a machine file, an hwloc XML file, or 'synthetic:…'."
)
simulated_option = click.option(
    "--machine", "-m", default="opteron-6164he", show_default=True, help=_SIMULATED
)
trace_machine_option = click.option(
    "--machine",
    "-m",
    default="opteron-6164he",
    show_default="for a TRACE opteron-6164he, else this machine",
    help=_SIMULATED,
)
threads_option = click.option(
    "--threads", "-t", type=int, required=True, help="Number of threads to place."
)
near_option = click.option(
    "--near",
    metavar="DEVICE",
    help="Prefer the NUMA nodes of a device: gpu0, eth0, nvme0, a PCI address (see `autofinity "
    "topology`). Each hint keeps its meaning.",
)
available_option = click.option(
    "--available", metavar="CPULIST", help="Use only these CPUs, such as 0-5,12."
)


def near_nodes(topology: Topology, machine: str, device: str | None) -> frozenset[int]:
    """Logical nodes of --near; why there are none is printed on stderr.

    Raises `UsageError` for an unknown device.
    """
    found = near_device(topology, machine, device)
    if found.note:
        complain(found.note)
    return found.nodes


def tell_unknown(topology: Topology) -> None:
    """Report unknown facts of the machine on stderr, a line each."""
    for line in gaps(topology):
        complain(line)
