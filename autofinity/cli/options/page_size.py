"""`--page-size`, the same wherever a machine is simulated."""

from __future__ import annotations

import click

from autofinity.workflow.backends import PAGE_SIZES

page_size_option = click.option(
    "--page-size",
    type=click.Choice(list(PAGE_SIZES), case_sensitive=False),
    help="Size of all pages; 2M: as with transparent huge pages.  [default: the machine's]",
)
