"""`autofinity doctor --site`: the machines of a site, and which lack a policy of their own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from autofinity.cli.page import print_table
from autofinity.cli.printer import page, say, say_json
from autofinity.foreign_text import one_line
from autofinity.workflow.site_policies import Covered, coverage


def tell_site(url: str, policies: Path | None, as_json: bool) -> None:
    """Print the machines of the site's database. Raises `StoreError`."""
    found = coverage(url, policies)
    if as_json:
        say_json([asdict(each.seen) | {"policy": each.policy or None} for each in found], indent=2)
        return
    if not found:
        say("no run in the site's database says on which machine it was made")
        return
    _table(found)
    lacking = sum(not each.policy for each in found)
    say("")
    say(f"{lacking} of {len(found)} kinds of machines lack a policy of their own.")
    if lacking:
        say(
            "They use the policy of any machine. Learn their own, where there are enough rows: "
            "`autofinity rebuild --db URL --each-machine -o FOLDER`"
        )


def _table(found: tuple[Covered, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("", "machine", "runs", "users", "rows to learn from", "policy of its own"):
        table.add_column(heading, overflow="fold")
    for each in found:
        mark = Text("yes", "green") if each.policy else Text("no", "yellow")
        seen = each.seen
        numbers = map(str, (seen.runs, seen.users, seen.observations))
        table.add_row(mark, one_line(seen.machine), *numbers, one_line(each.policy or "-"))
    print_table(table, page())
