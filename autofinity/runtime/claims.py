"""Several runs at once: each claims the cores that it gave to its threads, and other runs avoid
these cores.

A claim is the column `cpus` of a run in the behaviour database. The claim holds as long as the
program lives, whoever watches the program: it ends with the process (pid, start time, boot).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from autofinity.linux.identity import ProcessIdentity, boot_of, this_host
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.errors import StoreError, UsageError
from autofinity.model.placement import CoreSet
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.side_lines import beginning
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord
from autofinity.store.network_folders import may_be_shared
from autofinity.whole_file import replace_file

CLAIMS_HEAD = "autofinity-claims 2"
_MOST_CLAIMS = 1024  # lines for the launcher; the newest

type Pick = Callable[[frozenset[OsIndex]], CoreSet]
"""GETAFFINITY for a thread count and a hint, over the CPUs given. Raises `PlacementError`."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """Cores for a run, and the CPUs that they were chosen from."""

    cores: CoreSet
    available: frozenset[OsIndex]
    note: str = ""
    """Note on other runs here and their effect; empty when no other run is in the way."""


type Reserve = Callable[[int, frozenset[OsIndex], Pick], Reserved]
"""Function that chooses cores for a number of threads from the CPUs given. Raises the errors of the
`Pick`."""


def reserve_alone(threads: int, available: frozenset[OsIndex], pick: Pick) -> Reserved:
    """Choose cores as if nothing else ran here."""
    del threads
    return Reserved(pick(available), available)


def reserve_beside_others(
    database: BehaviourDB,
    run: int,
    topology: Topology,
    threads: int,
    available: frozenset[OsIndex],
    pick: Pick,
) -> Reserved:
    """Choose cores that no other run claims, where enough are left, and claim them for run `run`.

    This happens in one transaction: of two runs that ask at once, the second sees the first one's
    claim. Raises `StoreError`, and the errors of the `Pick`.
    """
    with database.exclusively():
        taken = claimed(live_runs(database), run)
        free, note = free_cpus(topology, threads, available, taken)
        cores = pick(free)
        database.update_run(run, cpus=format_cpu_list(whole_cores(topology, cores.cpus)))
        write_claims(database)
    return Reserved(cores, free, note)


def live_runs(database: BehaviourDB) -> tuple[RunRecord, ...]:
    """Runs on this machine whose program is alive, newest first. Raises `StoreError`."""
    return tuple(run for run in database.open_runs(this_host()) if process_of(run).alive)


def expire(database: BehaviourDB) -> None:
    """Record the end of runs whose program is gone and whose monitor did not record it. Raises
    `StoreError`.

    Otherwise the rows of killed monitors would be examined for ever, and never be sent to a site.
    """
    here = this_host()
    earlier_boots = [
        run
        for run in database.open_runs()
        if boot_of(here) and boot_of(run.host) not in ("", boot_of(here))
    ]
    gone = [run for run in database.open_runs(here) if not process_of(run).alive]
    if earlier_boots and not may_be_shared(database.path):  # else they may live on other hosts
        gone += earlier_boots
    for run in gone:
        database.update_run(run.id, phase="ended", cpus="", ended=True)
        database.masks.forget(run.id)


def write_claims(database: BehaviourDB) -> None:
    """Copy claims for the launcher, which has no SQLite (native `claims.c`). Raises `StoreError`.

    The claims of all hosts are copied, where several share the state folder: only a host itself
    knows which of its processes live. Call this function inside a write transaction: the last
    writer wins.
    """
    here = this_host()
    path = database.path.with_name("claims")
    claims = [
        f"{run.host} {run.pid} {run.start_ticks} {run.cpus}"
        for run in database.open_runs()
        if run.cpus and (run.host != here or process_of(run).alive)
    ]
    # A damaged row claims nothing.
    lines = [line for line in claims if line.isascii() and line.isprintable()]
    try:
        replace_file(
            path, beginning(CLAIMS_HEAD, lines[:_MOST_CLAIMS]), durable=False, private=True
        )
    except OSError as error:
        raise StoreError(f"the claims {path} cannot be written: {error}") from error


def process_of(run: RunRecord) -> ProcessIdentity:
    """The process that the run is about."""
    return ProcessIdentity(run.host, run.pid, run.start_ticks)


def monitor_of(run: RunRecord) -> ProcessIdentity:
    """The process that watches the run."""
    return ProcessIdentity(run.host, run.monitor_pid, run.monitor_ticks)


def claimed(runs: Iterable[RunRecord], own: int = 0) -> frozenset[OsIndex]:
    """CPUs that runs other than number `own` claim."""
    found: set[OsIndex] = set()
    for run in runs:
        if run.id != own:
            with suppress(UsageError):  # a damaged row claims nothing
                found |= parse_cpu_list(run.cpus)
    return frozenset(found)


def free_cpus(
    topology: Topology, threads: int, available: frozenset[OsIndex], taken: frozenset[OsIndex]
) -> tuple[frozenset[OsIndex], str]:
    """CPUs for a run, and a note where other runs are in the way.

    The CPUs are `available` without `taken` where that leaves a core for each thread, else all of
    `available`.
    """
    if not available & taken:
        return available, ""
    free = available - taken
    cores = len({topology.by_os_index[cpu].core for cpu in free})
    if cores >= threads:
        return free, "other runs claim some of the CPUs: these are not used"
    return available, (
        f"other runs leave {cores} cores free for {threads} threads: cores are shared with them"
    )


def whole_cores(topology: Topology, cpus: Iterable[OsIndex]) -> frozenset[OsIndex]:
    """All CPUs of the cores that `cpus` are on: a thread beside a busy sibling has half a core."""
    cores = {topology.by_os_index[cpu].core for cpu in cpus}
    return frozenset(pu.os_index for pu in topology.pus if pu.core in cores)
