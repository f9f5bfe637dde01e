"""Functions that order threads, and whether a trace keeps that order (`synchronisation.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from autofinity.capture.elf import read_elf


@dataclass(frozen=True, slots=True)
class Kept:
    """Functions that the runtime replaces."""

    what: str
    event: str
    """Event of each function in the trace; empty where the function only affects later events."""
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """Functions whose order is not in a trace; patterns of fnmatch."""

    why: str
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """The whole table."""

    families: tuple[str, ...]
    """Prefixes that identify such functions."""
    kept: tuple[Kept, ...]
    lost: tuple[Lost, ...]
    nothing: tuple[str, ...]
    """Functions that order no threads; patterns of fnmatch."""

    def why_lost(self, function: str) -> str | None:
        """Reason why the order that the function makes is not in a trace.

        None where the order is in the trace, or where the function makes none.
        """
        if any(function in group.functions for group in self.kept) or _is_of(
            function, self.nothing
        ):
            return None
        for group in self.lost:
            if _is_of(function, group.functions):
                return group.why
        if function.startswith(self.families):
            return "it is not known here"
        return None


def _is_of(function: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(function, pattern) for pattern in patterns)


@cache
def synchronisation() -> Synchronisation:
    """The shipped table."""
    text = Path(__file__).with_name("synchronisation.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    return Synchronisation(
        tuple(document["families"]),
        tuple(Kept(g["what"], g["event"], tuple(g["functions"])) for g in document["kept"]),
        tuple(Lost(g["why"], tuple(g["functions"])) for g in document["lost"]),
        tuple(document["nothing"]["functions"]),
    )


def lost_order(files: Iterable[Path]) -> dict[str, str]:
    """Functions used by these programs and libraries whose order is lost → reason, sorted."""
    table = synchronisation()
    found: dict[str, str] = {}
    for path in files:
        elf = read_elf(path)
        for function in elf.imports if elf is not None else ():
            why = table.why_lost(function)
            if why is not None:
                found[function] = why
    return dict(sorted(found.items()))


def warning(program: str, lost: Mapping[str, str]) -> str:
    """One line on the result of `lost_order`."""
    by_reason: dict[str, list[str]] = {}
    for function, why in lost.items():
        by_reason.setdefault(why, []).append(function)
    reasons = "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())
    return f"{program} uses functions whose order a replay does not keep: {reasons}"


def in_markdown() -> str:
    """The table, for a document."""
    table = synchronisation()
    lines = ["| order | functions |", "|---|---|"]
    for kept in table.kept:
        lines.append(f"| kept: {kept.what} | {_names(kept.functions)} |")
    for lost in table.lost:
        lines.append(f"| lost: {lost.why} | {_names(lost.functions)} |")
    return "\n".join(lines) + "\n"


def _names(functions: tuple[str, ...]) -> str:
    return " ".join(f"`{name}`" for name in functions)
