"""`--latencies`, the same wherever a machine is simulated."""

from __future__ import annotations

import click

latencies_option = click.option(
    "--latencies",
    metavar="FILE",
    help="Take latencies and bandwidths from this machine file or preset, or 'assumed', where "
    "--machine is "
    "only a topology (hwloc XML, synthetic, host).",
)
