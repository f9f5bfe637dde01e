"""Texts for other launchers, with what they see of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence

from autofinity.affinity.launchers.table import launcher_line, rank_texts
from autofinity.affinity.ranks import Rank
from autofinity.linux.bind import cpuset_of
from autofinity.model.topology import OsIndex, Topology


def text_of(tool: str, cpus: Sequence[OsIndex], topology: Topology) -> str:
    """Text with which `tool` puts one program on `cpus`, in thread order, without a last newline.

    Raises `UsageError` for an unknown tool, or one that cannot express the CPUs.
    """
    return launcher_line(tool, cpus, topology, _shown(topology))


def texts_of(tool: str, ranks: Sequence[Rank], topology: Topology) -> list[str]:
    """Texts with which `tool` puts ranks on their places: one for each, or one for all.

    Raises `UsageError` as `text_of` does.
    """
    return rank_texts(tool, ranks, topology, _shown(topology))


def _shown(topology: Topology) -> frozenset[OsIndex] | None:
    """CPUs that a launcher started from here sees, of this machine: those of the cgroup."""
    if topology.origin != "host":
        return None
    cpuset = cpuset_of(os.getpid())
    every = frozenset(topology.by_os_index)
    return every if cpuset is None else every & cpuset
