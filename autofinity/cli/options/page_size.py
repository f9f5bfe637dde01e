"""`--page-size`, the same wherever a machine is simulated."""

from __future__ import annotations

import click

from autofinity.workflow.backends import PAGE_SIZES

page_size_option = click.option(
    "--page-size",
    type=click.Choice(list(PAGE_SIZES), case_sensitive=False),
    help="Of all pages; 2M is what transparent huge pages give.  [default: the machine's]",
)
