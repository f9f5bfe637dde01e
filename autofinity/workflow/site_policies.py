"""A site's policies: for each kind of machine in the site's database, learned from all its hosts.

The rows are those that the role of the URL may read: the owner of the tables reads all. They were
written by many users; a row is checked as any foreign value, but nothing shows whether it is true.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from autofinity.model.errors import AutofinityError, LearningError, TopologyError, UsageError
from autofinity.model.topology import Topology
from autofinity.policy.shipped import policy_of_any_machine, policy_of_machine, policy_path
from autofinity.runtime.machine_text import machine_text, read_machine_text
from autofinity.runtime.policies import chosen_policy
from autofinity.store.site_db import SeenMachine, SiteDB
from autofinity.workflow.rebuild import (
    MACHINE_TEXT,
    Rebuilt,
    learned,
    whole_machine_here,
    written,
)

_MOST_NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class SiteRebuilt:
    """A kind of machine, and the policy that was learned for it."""

    machine: str
    """`machine_text`."""
    made: Rebuilt | None
    reason: str = ""
    """Why no policy was learned."""


@dataclass(frozen=True, slots=True)
class Covered:
    """A kind of machine in a site's database, and the policy of its own."""

    seen: SeenMachine
    policy: str
    """Name or file of the policy; empty: it has none of its own."""


def rebuild_here(
    url: str, target: Path, *, policy: str | None = None, dry_run: bool = False
) -> Rebuilt:
    """Learn a policy for machines as this one from the runs of all hosts in a site's database.

    Settings and counters are those of `policy`, by default of the policy that runs ask here. Raises
    `LearningError`, `StoreError`.
    """
    topology = whole_machine_here()
    chosen = chosen_policy(policy)
    with SiteDB.open(url) as site:
        site.check()
        made = _learned(site, topology, chosen.path if chosen else None, target)
    return made if dry_run else written(made)


def rebuild_each(
    url: str, folder: Path, *, policy: str | None = None, dry_run: bool = False
) -> Iterator[SiteRebuilt]:
    """Learn a policy for each kind of machine in a site's database, one file each in `folder`.

    Settings and counters are those of `policy`, by default of the shipped policy of such a machine,
    or of any machine. The result of a machine has the reason where nothing was learned. Raises
    `StoreError`, `OSError`, and `PolicyError` for an unknown `policy`.
    """
    named = policy_path(policy) if policy else None
    with SiteDB.open(url) as site:
        site.check()
        for seen in site.machines():
            try:
                topology = topology_of(seen.machine)
                old = named or _shipped(seen.machine)
                made = _learned(site, topology, old, folder / file_name(seen.machine))
                yield SiteRebuilt(seen.machine, made if dry_run else written(made))
            except (LearningError, TopologyError, UsageError) as error:
                yield SiteRebuilt(seen.machine, None, str(error))


def coverage(url: str, folder: Path | None = None) -> tuple[Covered, ...]:
    """The kinds of machines in a site's database, and which policy each has: one in `folder` that
    was learned on such machines, else a shipped one. Raises `StoreError`, `OSError`.
    """
    with SiteDB.open(url) as site:
        site.check()
        machines = site.machines()
    own = _policies_in(folder) if folder else {}
    return tuple(
        Covered(seen, own.get(seen.machine, "") or _name(_of_machine(seen.machine)))
        for seen in machines
    )


def topology_of(text: str) -> Topology:
    """A machine of this kind: this one, or one whose parts are all alike.

    Raises `LearningError` for another, `TopologyError` or `UsageError` for one of absurd numbers.
    """
    with suppress(TopologyError):
        here = whole_machine_here()
        if machine_text(here) == text:
            return here
    kind = read_machine_text(text)
    if kind is None or kind.synthetic is None:
        raise LearningError(
            "its parts are not alike, so that their arrangement is not known here; expected such a "
            "machine to be this one: run `autofinity rebuild --db URL` there"
        )
    from autofinity.linux.topology import synthetic_topology

    topology = replace(
        synthetic_topology(kind.synthetic), model="" if kind.model == "unknown CPU" else kind.model
    )
    if machine_text(topology) != text:
        raise LearningError(f"such a machine cannot be built of {kind.synthetic!r}")
    return topology


def file_name(machine: str) -> str:
    """Name of the file for the policy of a kind of machine: its words, and a digest of them."""
    kind = read_machine_text(machine)
    words = re.sub(r"[^a-z0-9]+", "-", (kind.model if kind else machine).lower()).strip("-")
    digest = hashlib.sha256(machine.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{words[:_MOST_NAME_CHARS]}.{digest[:8]}.json"


def _learned(site: SiteDB, topology: Topology, old: Path | None, target: Path) -> Rebuilt:
    rows, damaged = site.observations(machine_text(topology))
    return learned(rows, damaged, topology, old, None, target)


def _shipped(machine: str) -> Path | None:
    return _of_machine(machine) or policy_of_any_machine()


def _of_machine(machine: str) -> Path | None:
    kind = read_machine_text(machine)
    return policy_of_machine(kind.model, kind.shape) if kind else None


def _name(path: Path | None) -> str:
    return f"shipped: {path.stem}" if path else ""


def _policies_in(folder: Path) -> Mapping[str, str]:
    """Files of policies in a folder by the kind of machine that they were learned on; files that
    are none, or do not say so, are left out. Raises `OSError`.
    """
    from autofinity.policy.files import load

    found: dict[str, str] = {}
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 - raises where there is no folder
        if name.endswith(".json"):
            try:
                machine = load(folder / name).provenance.get(MACHINE_TEXT)
            except AutofinityError:
                continue
            if isinstance(machine, str):
                found.setdefault(machine, name)
    return found
