"""Preview of a run: what the monitor would find and do, without starting the program."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace

from autofinity.affinity.siblings import siblings_note
from autofinity.linux.bind import (
    StartMask,
    in_a_smaller_cpuset_than_its_parent,
    placeable_now,
)
from autofinity.linux.gaps import gaps
from autofinity.linux.online import sysfs_root
from autofinity.linux.pins import other_pins
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.errors import StoreError
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.files import load
from autofinity.runtime.asked_for import is_blind, kept_pages_note, near_of, sharing_shows
from autofinity.runtime.claims import claimed, live_runs
from autofinity.runtime.evidence import (
    nothing_to_choose,
    unmeasured,
    without_policy,
)
from autofinity.runtime.masks import isolation_note
from autofinity.runtime.plan import Plan, plan_hints
from autofinity.runtime.policies import digest_of
from autofinity.runtime.rank_share import RankShare, rank_share
from autofinity.runtime.request import Request
from autofinity.runtime.undecided import UNDECIDED
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord


@dataclass(frozen=True, slots=True)
class Preview:
    """The plan of a run, with what surrounds it."""

    request: Request
    topology: Topology
    available: frozenset[OsIndex]
    """CPUs that the program may use."""
    threads: int
    """Threads that are placed: those promised, else one for each of these cores."""
    policy: RulePolicy | None
    hint: Hint | None
    """Hint that is asked for, or known of the program."""
    plan: Plan
    binding: str
    runs: tuple[RunRecord, ...]
    """Live runs that claim CPUs."""
    pins: tuple[str, ...]
    """Other bindings of the program's threads, a line each."""
    notes: tuple[str, ...]

    @property
    def decision(self) -> str:
        """How the threads would get their hint."""
        request = self.request
        decides = _decider(self)
        undecided = request.hint is None and request.mechanism == "autofinity"
        why = nothing_to_choose(self.topology, self.plan.available)
        if undecided and request.bind == "llc" and why:
            decides += f"; {why}"
        if request.every_s and request.policy is not None:
            decides += (
                f"; checked every {request.every_s:g} s, decided again when the program has changed"
            )
        return decides


def preview(request: Request) -> Preview:
    """Plan of the run of a request. Raises `AutofinityError` when machine or policy cannot be
    read.
    """
    # The launcher has looked at its version only.
    policy = load(request.policy) if request.policy is not None else None
    allowed = parse_cpu_list(request.allowed)
    topology = read_sysfs(sysfs_root(), allowed=allowed)
    at_start = StartMask.of(os.getpid(), allowed)
    within = placeable_now(os.getpid(), at_start, topology)
    alone = bool(request.launcher) and in_a_smaller_cpuset_than_its_parent(request.pid)
    share = rank_share(request, topology, at_start, within, own_cpuset=alone)
    available = share.of(within)
    runs, known = _on_record(request)
    cores = len({topology.by_os_index[cpu].core for cpu in available})
    threads = request.threads or max(cores, 1)
    near = near_of(request, topology)
    plan = plan_hints(topology, threads, available, claimed(runs), request.bind, near)
    siblings = _siblings(request, plan, topology)
    notes = (
        share.note,
        plan.note,
        siblings,
        isolation_note(topology),
        kept_pages_note(replace(request, bind="none") if share.one_core else request, topology),
        *gaps(topology),
    )
    return Preview(
        request=request,
        topology=topology,
        available=available,
        threads=threads,
        policy=policy,
        hint=request.hint or known,
        plan=plan,
        binding=_binding(request, share),
        runs=tuple(run for run in runs if run.cpus),
        pins=other_pins(os.getpid(), os.environ, allowed),
        notes=tuple(note for note in notes if note),
    )


def _decider(seen: Preview) -> str:
    """Who or what decides: a mechanism, the user, a policy, or the record."""
    request, policy, hint = seen.request, seen.policy, seen.hint
    if request.mechanism != "autofinity":
        decides = f"{request.mechanism}: sharing between threads, seen in page faults"
        decides += "; pages may follow" if request.migrate_pages else "; pages stay"
        return decides + ("; NUMA hinting is switched on during the run" if request.arm else "")
    if request.hint is not None:
        return f"hint {request.hint.shown}, by --hint, without a sample"
    if policy is None:
        return without_policy(request.fallback).removeprefix(UNDECIDED)
    if hint is not None:
        bound = f"; bound to CPUs {request.bound} before it starts" if request.bound else ""
        return f"recorded: hint {hint.shown}, without a sample{bound}"
    if is_blind(request, policy):
        decides = unmeasured(request.fallback, policy.counters).removeprefix(UNDECIDED)
        return decides + (
            "; threads that share are placed together once page faults show sharing"
            * sharing_shows(request, seen.topology)
        )
    if not policy.counters:
        return f"{policy.default.shown}, the one answer of the policy, without a sample"
    return f"sampled in {SPREAD.shown} first, then decided by the policy"


def _on_record(request: Request) -> tuple[tuple[RunRecord, ...], Hint | None]:
    """Live runs, and the hint that is known of this program and thread count."""
    if request.db is None or not request.db.is_file():
        return (), None
    digest = digest_of(request.policy) if request.policy else ""
    with suppress(StoreError), BehaviourDB.open(request.db, read_only=True) as database:
        known = (
            row.hint
            for row in database.programs()
            if (row.program, row.threads, row.policy) == (request.key, request.threads, digest)
        )
        return live_runs(database), next(known, None)
    return (), None


def _binding(request: Request, share: RankShare) -> str:
    if share.one_core:
        return "nothing (one core)"
    return {"none": "nothing (--bind none)"}.get(request.bind, request.bind)


def _siblings(request: Request, plan: Plan, topology: Topology) -> str:
    """Note on siblings for a hint that was asked for; else empty."""
    asked = [each for each in plan.hints if each.hint == request.hint]
    here = topology.restricted(plan.available)
    return siblings_note(here, request.hint, asked[0].cores.cpus) if asked and request.hint else ""
