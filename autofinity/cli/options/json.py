"""`--json`, the same in every command."""

from __future__ import annotations

import click

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as one JSON document."
)
