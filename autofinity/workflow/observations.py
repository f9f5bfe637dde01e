"""Observations that are shipped or named, and the hints of their machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from pathlib import Path

import numpy as np

from autofinity.affinity.best_matches import BestMatches
from autofinity.capture.sources import digest_of_sources
from autofinity.checked_file import shown
from autofinity.learning.leeway_hints import HintsOf, hints_on
from autofinity.model.affinity import Affinity
from autofinity.model.errors import AutofinityError, LearningError, UsageError
from autofinity.resources import shipped
from autofinity.sim.preset import preset_names
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.trace.manifest import load_suite
from autofinity.workflow.backends import SYNTHETIC, machine_topology

ANY = "any"
"""Name in place of a machine's: all machines that were observed."""
_LONGEST_DESCRIPTION = 200


def shipped_observations(machine: str) -> Path | None:
    """The shipped file of a machine by its preset name; None where there is none."""
    if "/" in machine:
        return None
    try:
        return shipped("data", "observations", f"{machine}.parquet")
    except AutofinityError:
        return None


def is_shipped_suite(path: Path | None) -> bool:
    """Whether the manifest is that of the shipped suite, including its programs, at any path.

    Raises `SuiteError`.
    """
    own = shipped("training", "suite.toml")
    return (
        path is None
        or os.path.realpath(path) == os.path.realpath(own)
        or _digest(path) == _digest(own)
    )


def _digest(manifest: Path) -> list[str]:
    suite = load_suite(manifest)
    sources = [digest_of_sources(suite.folder, spec) for spec in suite.programs.values()]
    return [hashlib.sha256(manifest.read_bytes()).hexdigest(), *sources]


def observations_of(
    machine: str, threads: int | None = None, given: Path | None = None
) -> ObservationTable:
    """Observations of the given file or folder, or the shipped ones of a preset machine.

    With `threads`, only the rows with that thread count that affinities placed. Raises `UsageError`
    when none are shipped, `LearningError` when none have that thread count, `StoreError`.
    """
    path = given or shipped_observations(machine)
    if path is None:
        raise UsageError(
            f"no observations of {machine} are shipped; name a file or folder of `autofinity "
            "profile`"
        )
    table = read(path)
    if threads is None:
        return table
    placed = table.placed_by("affinity")
    chosen = placed.take(placed.threads == threads)
    if not len(chosen):
        counts = ", ".join(map(str, thread_counts_of(placed)))
        raise LearningError(f"{path} has no runs with {threads} threads; it has {counts}")
    return chosen


def thread_counts_of(table: ObservationTable) -> tuple[int, ...]:
    """Thread counts that were observed, ascending."""
    return tuple(np.unique(table.threads).tolist())


def placed_counts(table: ObservationTable, threads: int) -> tuple[int, ...]:
    """Numbers of threads that cores were chosen for in runs with `threads` threads, ascending.

    They differ from `threads` for programs that start more, or fewer, threads than requested.
    """
    codes = np.unique(table.affinity.codes[table.threads == threads])
    counts = {Affinity.parse(table.affinity.names[code]).threads for code in codes}
    return tuple(sorted(counts - {0}))


def with_threads(table: ObservationTable, threads: Collection[int]) -> ObservationTable:
    """Observations with one of these thread counts, of programs that had as many threads placed.

    Runs of other programs, in affinities of another count, give no evidence on this count. Raises
    `LearningError` where there are none.
    """
    counts = np.array([Affinity.parse(name).threads for name in table.affinity.names], np.int64)
    placed = counts[table.affinity.codes]
    as_told = (placed == table.threads) | (placed == 0)
    others = np.isin(table.workload(), np.unique(table.workload()[~as_told]))
    chosen = table.take(np.isin(table.threads, list(threads)) & ~others)
    if not len(chosen):
        there = ", ".join(map(str, thread_counts_of(table))) or "none"
        wanted = ",".join(map(str, threads))
        raise LearningError(f"no observation with {wanted} threads; there are {there}")
    return chosen


def machine_of(table: ObservationTable) -> str:
    """Name of the machine of the first observation (learning refuses several)."""
    name: str = table.machine.names[int(table.machine.codes[0])]
    return name


def matches_for(table: ObservationTable, machine: str | None = None) -> BestMatches:
    """Best matches of hints on the named machine, or on the machine that the observations name.

    Raises the errors of `known_machine` and `machine_topology`.
    """
    return BestMatches(machine_topology(machine or known_machine(table)))


def known_machine(table: ObservationTable) -> str:
    """The machine that the observations name.

    Raises `UsageError` for a name that is a path or unknown: the author of the file must not decide
    which file is opened here.
    """
    name = machine_of(table)
    described = name.startswith(SYNTHETIC) and len(name) <= _LONGEST_DESCRIPTION
    if name != "host" and name not in preset_names() and not described:
        raise UsageError(
            f"the observations are of {shown(name)}, which is no known machine; name the machine "
            "with --machine"
        )
    return name


def hints_for(table: ObservationTable, machine: str | None, leeway: int) -> HintsOf:
    """Hints of affinities on the named machine, or on the machine that the observations name, with
    `leeway` threads elsewhere. Raises the errors of `matches_for`.
    """
    return hints_on(matches_for(table, machine), leeway)
