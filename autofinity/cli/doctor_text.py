"""The findings of `autofinity doctor`, for who is new to the tool: on terminals in lines of at most
80 columns.

what a run does here   one sentence
section                yes  NAME: what was found
                       no   NAME (what it is for)
                            what was found
                            to enable: what helps
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autofinity.cli.page import print_table
from autofinity.cli.printer import is_endless, page
from autofinity.foreign_text import one_line
from autofinity.linux.capabilities import Capability
from autofinity.policy.shipped import policy_names
from autofinity.runtime.evidence import HARDWARE, STAYS

COLUMNS = 80
# Section → capability → its name here, and what it is for.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "The policy, whose rules decide where threads go": {
        "policy": ("policy of a run", "the rules that decide"),
        "policy's counters": (
            "all of its counters",
            "the CPU model must have an event for each, which can be read here",
        ),
        "policy's needs": ("enough of its counters", "without them no rule can decide"),
        "speeds": (
            "speeds of this machine",
            "GB/s and ns of its caches and memory; advise compares reads with them, no shipped "
            "policy asks for them",
        ),
    },
    "Measurements, for rules and for `autofinity detect`": {
        "hardware counters": ("hardware counters", "the rules of most policies compare them"),
        "cross-core events": (
            "counting data from other cores",
            "some rules ask how much comes from other cores' caches",
        ),
        "software events": ("time and page faults", "how much each thread computes"),
        "memory sampling": (
            "samples of accesses",
            "which threads share data; no shipped policy needs them",
        ),
        "page-fault sampling": (
            "samples of page faults",
            "which threads share data, at each first touch of a page",
        ),
        "NUMA hinting faults": (
            "repeated page faults",
            "which threads share data, during the whole run (`run --arm`)",
        ),
    },
    "Actions, and what they are worth here": {
        "last-level caches": ("several last-level caches", "between which placement chooses"),
        "NUMA nodes": ("several NUMA nodes", "between which the place of memory matters"),
        "launcher": ("program that starts runs", "it becomes the program that is run"),
        "monitor": ("watching a program", "its monitor waits for the program's end"),
        "thread binding": ("binding threads to CPUs", "placement"),
        "page migration": ("moving pages between nodes", "memory follows its threads"),
        "free of seccomp": ("all system calls", "no filter (seccomp) refuses any"),
        "site's database": ("site's database", "collects the finished runs of all hosts"),
    },
}


def print_found(tier: str, found: Sequence[Capability]) -> None:
    """Print all of it; the sentence on runs first."""
    from rich.table import Table
    from rich.text import Text

    console = page()
    if not is_endless(console):
        console.width = min(console.width, COLUMNS)
    by_name = {each.name: each for each in found}
    console.print(Text(one_line(f"In short: {in_short(tier, by_name)}")))
    for title, names in SECTIONS.items():
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, (shown, purpose) in names.items():
            if name in by_name:
                mark = Text("yes", "green") if by_name[name].available else Text("no", "yellow")
                table.add_row(mark, "\n".join(shown_lines(shown, purpose, by_name[name])))
        console.print()
        console.print(Text(title, "bold"))
        print_table(table, console)
    console.print()
    shipped = ", ".join(policy_names()) or "none"
    console.print(Text(f"Shipped policies, for `autofinity run --policy NAME`: {shipped}."))


def shown_lines(shown: str, purpose: str, found: Capability) -> list[str]:
    """One capability under the name that is shown: in one line where nothing is missing."""
    if found.available and not found.remedy:
        return [one_line(f"{shown}: {found.detail}")]
    lines = [f"{shown} ({purpose})", one_line(found.detail)]
    return [*lines, *([one_line(f"to enable: {found.remedy}")] if found.remedy else [])]


def in_short(tier: str, found: Mapping[str, Capability]) -> str:
    """The effect of `autofinity run` here, in a sentence."""

    def lacks(name: str) -> bool:
        return name in found and not found[name].available

    begin = "`autofinity run` starts a program here"
    for name, why in _IN_THE_WAY.items():
        if lacks(name):
            return f"{begin}, and {STAYS}: {why}."
    counted = tier if tier == HARDWARE else "what the kernel counts"
    return f"{begin}, and places its threads by {counted} and the policy below."


# The first of these that is missing is the reason why nothing is placed.
_IN_THE_WAY = {
    "launcher": "the program that starts runs is missing",
    "thread binding": "threads cannot be bound",
    "monitor": "a running program cannot be watched",
    "last-level caches": "there is nothing to choose between",
    "policy": "there is no policy to decide",
    "policy's needs": "none of the counters that the policy compares can be measured",
}
