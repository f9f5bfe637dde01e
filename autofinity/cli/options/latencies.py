"""`--latencies`, the same wherever a machine is simulated."""

from __future__ import annotations

import click

latencies_option = click.option(
    "--latencies",
    metavar="FILE",
    help="For a machine that is only a topology (hwloc XML, synthetic, host): a machine file or a "
    "preset to take latencies and bandwidths from.",
)
