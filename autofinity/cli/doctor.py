"""`autofinity doctor`: what this machine can measure and bind, and how to get more."""

from __future__ import annotations

import click

from autofinity.cli.page import print_table
from autofinity.cli.printer import page, say_json
from autofinity.linux.capabilities import TIERS, Capability, Ladder, probe
from autofinity.linux.event_tables import event_table, this_cpu
from autofinity.linux.thread_roll import SOFTWARE_EVENTS
from autofinity.model.errors import AutofinityError, LinuxError
from autofinity.policy.files import load
from autofinity.policy.lacking import without_text
from autofinity.runtime.launcher import find_launcher
from autofinity.runtime.policies import default_policy


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(as_json: bool) -> None:
    """Probe everything a run would use, without side effects; each line with its remedy."""
    ladder = probe()
    parts = (_launcher(), _policy(), *_lacking())
    if as_json:
        say_json(_document(ladder, parts), indent=2)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("", "capability", "found", "to get it"):
        table.add_column(heading, overflow="fold")
    for capability in (*ladder.capabilities, *parts):
        mark = Text("yes", "green") if capability.available else Text("no", "yellow")
        table.add_row(mark, capability.name, capability.detail, capability.remedy)
    console = page()
    print_table(table, console)
    console.print()
    tier = Text("A run here decides by: ").append(ladder.tier, "bold")
    console.print(tier.append(f". {_meaning(ladder.tier)}"))


def _meaning(tier: str) -> str:
    if tier == TIERS[1]:
        return "The policy gets the counters it asks for, as far as this CPU has them."
    return (
        "The counters that policies ask for cannot be measured, so a policy's default decides; "
        "what is measured is kept for later."
    )


def _launcher() -> Capability:
    try:
        return Capability("launcher", True, str(find_launcher()))
    except LinuxError as error:
        return Capability("launcher", False, str(error), "reinstall autofinity")


def _policy() -> Capability:
    path = default_policy()
    if path is None:
        return Capability("policy", False, "none was found", "autofinity train, then --policy")
    return Capability("policy", path.is_file(), str(path))


def _lacking() -> tuple[Capability, ...]:
    """Whether this CPU has an event for each counter of that policy; nothing where there is none
    that can be read.
    """
    path = default_policy()
    if path is None or not path.is_file():
        return ()
    try:
        policy = load(path)
    except AutofinityError:
        return ()
    if not policy.counters:
        return ()
    counted = {*event_table(this_cpu()), *SOFTWARE_EVENTS}
    missing = [counter for counter in policy.counters if counter not in counted]
    if not missing:
        detail = f"this CPU has events for {', '.join(policy.counters)}"
    else:
        detail = f"no event for {', '.join(missing)}: {without_text(policy, missing)}"
    return (Capability("policy's counters", not missing, detail),)


def _document(ladder: Ladder, parts: tuple[Capability, ...]) -> dict[str, object]:
    return {
        "tier": ladder.tier,
        "tiers": list(TIERS),
        "capabilities": [
            {
                "name": capability.name,
                "available": capability.available,
                "detail": capability.detail,
                "remedy": capability.remedy,
            }
            for capability in (*ladder.capabilities, *parts)
        ],
    }
