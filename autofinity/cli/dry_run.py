"""`autofinity run --dry-run`: what the run would do, as text or as JSON.

The launcher becomes this module with the arguments that the monitor would get, so what is printed
is what would be done. `autofinity` has no command of this name.
"""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from dataclasses import dataclass

from autofinity.affinity.siblings import siblings_note
from autofinity.cli.errors import reported
from autofinity.cli.printer import say, say_json, say_wrapped
from autofinity.foreign_text import one_line
from autofinity.linux.bind import (
    StartMask,
    allowed_now,
    in_a_smaller_cpuset_than_its_parent,
)
from autofinity.linux.gaps import gaps
from autofinity.linux.pins import other_pins
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.errors import StoreError
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.files import load
from autofinity.runtime.asked_for import is_blind, near_of, sharing_shows
from autofinity.runtime.claims import claimed, live_runs
from autofinity.runtime.evidence import (
    ONE_LLC,
    nothing_to_choose,
    unmeasured,
    without_policy,
)
from autofinity.runtime.plan import Plan, plan_hints
from autofinity.runtime.policies import NO_POLICY, NO_POLICY_REMEDY, digest_of
from autofinity.runtime.rank_share import RankShare, rank_share
from autofinity.runtime.request import Request
from autofinity.runtime.undecided import UNDECIDED
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord
from autofinity.store.site_address import site_name


def main() -> None:
    """Entry of `python -m autofinity.cli.dry_run`."""
    reported(lambda: tell(Request.parse(sys.argv[1:])))


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


def tell(request: Request) -> None:
    """Print the plan. Raises `AutofinityError` when machine or policy cannot be read."""
    seen = preview(request)
    if request.as_json:
        say_json(_document(seen), indent=2)
    else:
        _print(seen)


def preview(request: Request) -> Preview:
    """Plan of the run of a request. Raises `AutofinityError` when machine or policy cannot be
    read.
    """
    # The launcher has looked at its version only.
    policy = load(request.policy) if request.policy is not None else None
    allowed = parse_cpu_list(request.allowed)
    topology = read_sysfs(os.environ.get("AUTOFINITY_SYSFS", "/sys"), allowed=allowed)
    at_start = StartMask.of(os.getpid(), allowed)
    within = allowed_now(os.getpid(), at_start) & frozenset(topology.by_os_index)
    alone = bool(request.launcher) and in_a_smaller_cpuset_than_its_parent(request.pid)
    share = rank_share(request, topology, at_start, within, own_cpuset=alone)
    available = share.of(within)
    runs, known = _on_record(request)
    cores = len({topology.by_os_index[cpu].core for cpu in available})
    threads = request.threads or max(cores, 1)
    near = near_of(request, topology)
    plan = plan_hints(topology, threads, available, claimed(runs), request.bind, near)
    notes = (share.note, plan.note, _siblings(request, plan, topology), *gaps(topology))
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


def _print(seen: Preview) -> None:
    request, plan = seen.request, seen.plan
    for name, text in (
        ("program", f"{request.program} (key {request.key[:12]})"),
        ("machine", _shape(seen.topology)),
        (
            "CPUs",
            f"{format_cpu_list(seen.available)} allowed"
            + (f"; placed on {format_cpu_list(plan.available)}" if plan.hints else ""),
        ),
        ("threads", f"{seen.threads} ({_promise(request.threads)})"),
        ("measured", f"{request.tier} ({request.ladder})"),
        ("policy", _policy(request)),
        *((("chosen", request.policy_origin),) if request.policy else ()),
        *((("near", f"{request.near}, on node {request.near_node}"),) if request.near else ()),
        *((("sent to", site_name(request.site)),) if request.site and request.db else ()),
        ("decision", _decision(seen)),
        ("binding", seen.binding),
        *(("run", _claim(run)) for run in seen.runs),
        *(("pins", line) for line in seen.pins),
        *(("note", line) for line in seen.notes),
    ):
        say_wrapped(one_line(f"{name:9} {text}"), hang=10)
    _table(plan, seen.hint, "asked for" if request.hint else "known")
    say("nothing was started")


def _document(seen: Preview) -> dict[str, object]:
    """Lists of CPUs are as `taskset --cpu-list` takes them: `0-3,8`."""
    request = seen.request
    return {
        "program": request.program,
        "key": request.key,
        "packages": seen.topology.n_packages,
        "nodes": seen.topology.n_nodes,
        "llcs": seen.topology.n_llcs,
        "cores": seen.topology.n_cores,
        "pus": len(seen.topology.pus),
        "cpus_allowed": format_cpu_list(seen.available),
        "cpus_placed_on": format_cpu_list(seen.plan.available) if seen.plan.hints else None,
        "threads": seen.threads,
        "threads_promised": request.threads or None,
        "measured": request.tier,
        "ladder": request.ladder,
        "policy": None if request.policy is None else str(request.policy),
        "policy_origin": request.policy_origin or None,
        "near": request.near or None,
        "sent_to": site_name(request.site) if request.site and request.db else None,
        "mechanism": request.mechanism,
        "hint": None if seen.hint is None else str(seen.hint),
        "decision": _decision(seen),
        "binding": seen.binding,
        "runs": [
            {"run": run.id, "program": run.path, "pid": run.pid, "cpus": run.cpus}
            for run in seen.runs
        ],
        "pins": list(seen.pins),
        "notes": list(seen.notes),
        "hints": [
            {
                "hint": str(each.hint),
                "name": each.hint.shown,
                "affinity": str(each.cores.affinity),
                "cpus_of_thread": [format_cpu_list(mask) for mask in each.masks],
            }
            for each in seen.plan.hints
        ],
    }


def _promise(threads: int) -> str:
    """How the number of threads was found; 0: none was promised."""
    if not threads:
        return "for example; without --threads, each computing thread gets a core"
    words = os.environ.get("OMP_NUM_THREADS", "")
    counts = [int(word) for word in words.split(",") if word.strip().isdecimal()]
    if len(counts) < 2 or math.prod(counts) != threads:
        return "promised"
    outer = f"{counts[0]} thread{'s' * (counts[0] > 1)}"
    return (
        f"promised: OMP_NUM_THREADS={words} is for teams within teams; without these, the {outer} "
        "of the outer team are placed"
    )


def _decision(seen: Preview) -> str:
    """How the threads would get their hint."""
    request = seen.request
    decides = _decider(request, seen.policy, seen.hint, seen.topology)
    undecided = request.hint is None and request.mechanism == "autofinity"
    one_llc = nothing_to_choose(seen.topology, seen.plan.available)
    if undecided and request.bind == "llc" and one_llc:
        decides += f"; {ONE_LLC}"
    if request.every_s and request.policy is not None:
        decides += (
            f"; checked every {request.every_s:g} s, decided again when the program has changed"
        )
    return decides


def _decider(
    request: Request, policy: RulePolicy | None, hint: Hint | None, topology: Topology
) -> str:
    """Who or what decides: a mechanism, the user, a policy, or the record."""
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
            * sharing_shows(request, topology)
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


def _policy(request: Request) -> str:
    if request.policy is None:
        return "not asked" if request.hint else f"none: {NO_POLICY}; {NO_POLICY_REMEDY}"
    return str(request.policy)


def _siblings(request: Request, plan: Plan, topology: Topology) -> str:
    """Note on siblings for a hint that was asked for; else empty."""
    asked = [each for each in plan.hints if each.hint == request.hint]
    here = topology.restricted(plan.available)
    return siblings_note(here, request.hint, asked[0].cores.cpus) if asked and request.hint else ""


def _shape(topology: Topology) -> str:
    counts = {
        "socket": topology.n_packages,
        "node": topology.n_nodes,
        "last-level cache": topology.n_llcs,
        "core": topology.n_cores,
        "CPU": len(topology.pus),
    }
    return ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items())


def _claim(run: RunRecord) -> str:
    return f"{run.id} ({run.path}, pid {run.pid}) claims CPUs {run.cpus}"


def _table(plan: Plan, marked: Hint | None, mark: str) -> None:
    if not plan.hints:
        return
    say("hint  affinity and the CPUs of each thread")
    for each in plan.hints:
        said = f"  ({mark})" if each.hint == marked else ""
        say(f"{each.hint.shown:32}  {each.cores.affinity}{said}")
        for masks in _grouped(each.masks):
            say_wrapped(f"      {masks}")


def _grouped(masks: tuple[frozenset[OsIndex], ...]) -> list[str]:
    """`threads 0-3 on CPUs 0-5`: neighbours with one mask in one line."""
    lines: list[str] = []
    first = 0
    for thread in range(1, len(masks) + 1):
        if thread == len(masks) or masks[thread] != masks[first]:
            which = f"thread {first}" if thread - first == 1 else f"threads {first}-{thread - 1}"
            lines.append(f"{which} on CPUs {format_cpu_list(masks[first])}")
            first = thread
    return lines


if __name__ == "__main__":
    main()
