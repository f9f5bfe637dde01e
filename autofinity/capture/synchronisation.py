"""Which functions order threads, and whether a trace keeps that order (`synchronisation.toml`)."""

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
    """Functions that the runtime stands in for."""

    what: str
    event: str
    """What the trace has of each; empty where it only matters to what comes after."""
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """Functions whose order is not in a trace; patterns of fnmatch."""

    why: str
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synchronisation:
    """The table, whole."""

    families: tuple[str, ...]
    """Prefixes by which such functions are known."""
    kept: tuple[Kept, ...]
    lost: tuple[Lost, ...]
    nothing: tuple[str, ...]
    """Functions that order nobody; patterns of fnmatch."""

    def why_lost(self, function: str) -> str | None:
        """Why the order that the function makes is not in a trace; None where it is, or where it
        makes none.
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
    """The table as it is shipped."""
    text = Path(__file__).with_name("synchronisation.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    return Synchronisation(
        tuple(document["families"]),
        tuple(Kept(g["what"], g["event"], tuple(g["functions"])) for g in document["kept"]),
        tuple(Lost(g["why"], tuple(g["functions"])) for g in document["lost"]),
        tuple(document["nothing"]["functions"]),
    )


def lost_order(files: Iterable[Path]) -> dict[str, str]:
    """Functions that these programs and libraries take whose order is lost → why, sorted."""
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
    """One line of what `lost_order` found."""
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
