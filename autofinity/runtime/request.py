"""Request to a monitor: the launcher's arguments, or those of `attach`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
        """Request from `--name value` pairs, and the site from the environment.

        Raises `ValueError` or `KeyError` on anything else.
        The parser is our own: argparse would take a tenth of the monitor's memory.
        """
        given: Mapping[str, str] = dict(zip(arguments[::2], arguments[1::2], strict=True))
        bind = given.get("--bind", "llc")
        if bind not in ("llc", "core", "none"):
            raise ValueError(f"unknown --bind {bind}")
        policy, database = given.get("--policy"), given.get("--db")
        hint, fallback = given.get("--hint"), given.get("--fallback")
        return Request(
            pid=int(given["--pid"]),
            pidfd=int(given.get("--pidfd", "-1")),
            program=given["--program"],
            key=given["--key"],
            started=float(given.get("--started", "0")),
            threads=int(given.get("--threads", "0")),
            allowed=given["--allowed"],
            bind=bind,  # type: ignore[arg-type]
            tier=given.get("--tier", "topology only"),
            ladder=given.get("--ladder", ""),
            policy=Path(policy) if policy else None,
            db=Path(database) if database else None,
            bound=given.get("--bound", ""),
            seats=given.get("--seats", ""),
            seated=int(given.get("--seated", "-1")),
            sample_s=float(given.get("--sample-s", "1")),
            every_s=float(given.get("--every-s", "0")),
            mechanism=given.get("--mechanism", "autofinity"),
            hint=Hint.from_letters(hint) if hint else None,
            fallback=Hint.from_letters(fallback) if fallback else None,
            near=given.get("--near", ""),
            near_node=OsIndex(int(given.get("--near-node", UNKNOWN_NODE))),
            policy_origin=given.get("--policy-origin", ""),
            migrate_pages="--migrate-pages" in given,
            arm="--arm" in given,
            auto_rebuild="--auto-rebuild" in given,
            as_json="--json" in given,
            launcher=given.get("--launcher", ""),
            ranks=int(given.get("--ranks", "0")),
            rank=int(given.get("--rank", "0")),
            site=site_of(os.environ),
            totals=tuple(
                (name, int(fd))
                for name, _, fd in (
                    part.partition("=") for part in given.get("--counters", "").split(",") if part
                )
            ),
        )
