"""Nodes of a running program's threads, from the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from live_masks import masks_of

from autofinity.linux.proc import tasks_of
from autofinity.model.topology import OsIndex, Topology


def computing(pid: int) -> list[frozenset[OsIndex]]:
    """Masks of the computing threads: all but the main one."""
    return masks_of(pid)[1:]


def nodes_used(masks: Sequence[frozenset[OsIndex]], topology: Topology) -> list[int]:
    """Logical node of each thread, where every thread is kept to one node; else none."""
    pus = topology.by_os_index
    nodes = [{pus[cpu].node if cpu in pus else -1 for cpu in mask} for mask in masks]
    return [node.pop() for node in nodes] if all(len(node) == 1 for node in nodes) else []


def nodes_run_on(pid: int, topology: Topology) -> list[int]:
    """Logical node on which each computing thread ran last."""
    return [topology.by_os_index[task.cpu].node for task in tasks_of(pid)[1:]]
