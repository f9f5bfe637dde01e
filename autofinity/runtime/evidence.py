"""The evidence for a decision here, and the notes where there is none: then no thread is bound.

A wrong hint costs time. So threads leave the CPUs that the system gave them only because of a
measurement of them, or at their user's request.
"""

from __future__ import annotations

from collections.abc import Iterable

from autofinity.linux.event_tables import event_table, this_cpu
from autofinity.linux.thread_roll import SOFTWARE_EVENTS
from autofinity.model.affinity import Hint
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.policies import NO_POLICY
from autofinity.runtime.undecided import UNDECIDED

HARDWARE = "hardware counters"
"""The step of the ladder on which counters are counted."""
STAYS = "threads stay where the system puts them"
ONE_LLC = "one LLC domain is allowed, so there is nothing to choose"
NO_SHARED_LLC = "no two allowed CPUs share a cache, so there is nothing to choose"
MORE_CPUS = "allow CPUs of several last-level caches or nodes, if the machine has such"
UNMEASURED = "no counter of the policy's rules can be measured here"
PARTLY_UNMEASURED = "the policy's answer depends on what cannot be measured here"
UNMEASURED_REMEDY = (
    "`autofinity doctor` shows how to enable counters; --hint HINT needs none, "
    "and --fallback HINT is used where counters are missing"
)


def measurable(tier: str) -> frozenset[str]:
    """Names of all events that can be counted for a thread on this step of the ladder."""
    software = frozenset(SOFTWARE_EVENTS)
    return software | event_table(this_cpu()).keys() if tier == HARDWARE else software


def nothing_to_choose(topology: Topology, cpus: Iterable[OsIndex]) -> str:
    """Why every hint gives the threads the same affinity; empty where hints differ.

    The CPUs are of one kind of core, and either of one LLC domain, or of one node, where each is in
    another domain, and all are of one socket or each is of another.
    """
    pus = [topology.by_os_index[cpu] for cpu in cpus]
    caches = {pu.llc for pu in pus}
    if len({pu.efficiency for pu in pus}) > 1:
        return ""
    if len(caches) <= 1:
        return ONE_LLC
    of_one_node = len({pu.node for pu in pus}) == 1
    even_sockets = len({pu.package for pu in pus}) in (1, len(pus))
    return NO_SHARED_LLC if of_one_node and len(caches) == len(pus) and even_sockets else ""


def unmeasured(fallback: Hint | None, lacking: Iterable[str], *, every: bool = True) -> str:
    """Note of a run whose policy has no answer without the counters `lacking`: `every` counter of
    the policy, or some.
    """
    why = f"{UNDECIDED}{UNMEASURED if every else PARTLY_UNMEASURED} ({', '.join(lacking)})"
    return _then(why, fallback, f"{STAYS}; {UNMEASURED_REMEDY}")


def without_policy(fallback: Hint | None) -> str:
    """Note of a run without a policy."""
    return _then(UNDECIDED + NO_POLICY, fallback, STAYS)


def _then(why: str, fallback: Hint | None, otherwise: str) -> str:
    then = otherwise if fallback is None else f"to be placed by the fallback, {fallback.shown}"
    return f"{why}: {then}"
