"""`--page-size`, the same wherever a machine is simulated."""

from __future__ import annotations

import click

PAGE_SIZES = {"4K": 4096, "16K": 16384, "2M": 2 << 20}
"""Bytes by the names that users know."""

page_size_option = click.option(
    "--page-size",
    type=click.Choice(list(PAGE_SIZES), case_sensitive=False),
    help="Of all pages; 2M is what transparent huge pages give.  [default: the machine's]",
)
