"""`--latencies`, the same wherever a machine is simulated."""

from __future__ import annotations

import click

latencies_option = click.option(
    "--latencies",
    metavar="FILE",
    help="Latencies and bandwidths for a machine that is only a topology (hwloc XML, synthetic, "
    "host): a machine file (TOML), or the name of a preset to take them from.",
)
