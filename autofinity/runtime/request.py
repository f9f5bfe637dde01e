"""Request to a monitor: the launcher's arguments, or those of `attach`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autofinity.model.affinity import Hint
from autofinity.model.topology import UNKNOWN_NODE, OsIndex
from autofinity.runtime.masks import Binding
from autofinity.store.site_address import site_of


@dataclass(frozen=True, slots=True)
class Request:
    """The program to watch, and the settings."""

    pid: int
    program: str
    key: str
    allowed: str
    pidfd: int = -1
    """Inherited descriptor that becomes readable when the program ends; -1: open one."""
    started: float = 0.0
    """Unix time at which the launcher was about to start the program; 0: now."""
    threads: int = 0
    """Number of computing threads; 0: those that are seen to compute."""
    bind: Binding = "llc"
    tier: str = "topology only"
    ladder: str = ""
    policy: Path | None = None
    db: Path | None = None
    bound: str = ""
    """CPU lists, separated by `;`, of masks that are ours although this monitor did not give them:
    the program was bound to them before exec, or by an earlier watch."""
    seats: str = ""
    """Seats that the launcher's half gives threads as they are created (`creation_seats`); empty:
    none."""
    seated: int = -1
    """Descriptor that names these threads."""
    sample_s: float = 1.0
    every_s: float = 0.0
    """Continuous mode: seconds between looks at a placed program for changes; 0: never."""
    earlier_run: int = 0
    """Number of the run that watched this process before; 0: none."""
    mechanism: str = "autofinity"
    """Mechanism that decides: the policy (`LivePolicy`), or one of `mechanisms.live`."""
    hint: Hint | None = None
    """Hint that the user asks for; then nothing is sampled and no policy is asked."""
    fallback: Hint | None = None
    """Hint that the user asks for where nothing can be measured, or there is no policy."""
    near: str = ""
    """Device whose node hints prefer, as the user called it; empty: none."""
    near_node: OsIndex = UNKNOWN_NODE
    """The kernel's number of that node."""
    policy_origin: str = ""
    """Who chose the policy (`policies.Origin`)."""
    migrate_pages: bool = False
    """Whether pages may follow the threads that use them."""
    keep_pages: bool = False
    """Whether no page may move, whoever decides."""
    arm: bool = False
    """Whether to switch NUMA hinting on while the program runs."""
    auto_rebuild: bool = False
    """Whether to start a rebuild of the user's policy afterwards, when one is due."""
    as_json: bool = False
    """Whether a dry run prints JSON."""
    launcher: str = ""
    """MPI launcher that has started the program as one of its ranks; empty: none has."""
    ranks: int = 0
    """Ranks of this node; 0: the program is none."""
    rank: int = 0
    """Number of this one among them, from 0."""
    site: str = field(default="", repr=False)
    """URL of the site's database that the finished run is sent to; empty: none. It comes by the
    environment, as it may hold a password."""
    totals: tuple[tuple[str, int], ...] = ()
    """(name, descriptor) of the counters of the whole run that the launcher's half opened."""

    @staticmethod
    def parse(arguments: Sequence[str]) -> Request:
        """Request from `--name value` pairs, and the site from the environment. Unknown names are
        ignored.

        Raises `ValueError` or `KeyError` on anything else.
        The parser is our own: argparse would take a tenth of the monitor's memory.
        """
        given: Mapping[str, str] = dict(zip(arguments[::2], arguments[1::2], strict=True))
        read: dict[str, Any] = {
            field: reader(given[option])
            for option, field, reader in _OPTIONS
            if option in given or option in _NEEDED
        }
        return Request(**read, site=site_of(os.environ))


def _switch(value: str) -> bool:
    """An option that is given is on, whatever its value."""
    del value
    return True


def _binding(name: str) -> str:
    if name not in ("llc", "core", "none"):
        raise ValueError(f"unknown --bind {name}")
    return name


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _hint(letters: str) -> Hint | None:
    return Hint.from_letters(letters) if letters else None


def _node(number: str) -> OsIndex:
    return OsIndex(int(number))


def _descriptors(text: str) -> tuple[tuple[str, int], ...]:
    """Pairs in `NAME=DESCRIPTOR,…`."""
    pairs = (part.partition("=") for part in text.split(",") if part)
    return tuple((name, int(descriptor)) for name, _, descriptor in pairs)


_NEEDED = ("--pid", "--program", "--key", "--allowed")
_OPTIONS: tuple[tuple[str, str, Callable[[str], object]], ...] = (
    ("--pid", "pid", int),
    ("--program", "program", str),
    ("--key", "key", str),
    ("--allowed", "allowed", str),
    ("--pidfd", "pidfd", int),
    ("--started", "started", float),
    ("--threads", "threads", int),
    ("--bind", "bind", _binding),
    ("--tier", "tier", str),
    ("--ladder", "ladder", str),
    ("--policy", "policy", _path),
    ("--db", "db", _path),
    ("--bound", "bound", str),
    ("--seats", "seats", str),
    ("--seated", "seated", int),
    ("--sample-s", "sample_s", float),
    ("--every-s", "every_s", float),
    ("--mechanism", "mechanism", str),
    ("--hint", "hint", _hint),
    ("--fallback", "fallback", _hint),
    ("--near", "near", str),
    ("--near-node", "near_node", _node),
    ("--policy-origin", "policy_origin", str),
    ("--migrate-pages", "migrate_pages", _switch),
    ("--keep-pages", "keep_pages", _switch),
    ("--arm", "arm", _switch),
    ("--auto-rebuild", "auto_rebuild", _switch),
    ("--json", "as_json", _switch),
    ("--launcher", "launcher", str),
    ("--ranks", "ranks", int),
    ("--rank", "rank", int),
    ("--counters", "totals", _descriptors),
)
"""Options of the launcher, the fields that they set, and readers of their values."""
