"""`--latencies`, the same wherever a machine is simulated."""

from __future__ import annotations

import click

latencies_option = click.option(
    "--latencies",
    metavar="FILE",
    help="Machine file or preset with latencies and bandwidths, or assumed, for a machine that is "
    "only a topology (hwloc XML, synthetic, host).",
)
