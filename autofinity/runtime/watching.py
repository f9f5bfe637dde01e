"""Watching one program, from its first look to its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from autofinity.linux.bind import (
    StartMask,
    in_a_smaller_cpuset_than_its_parent,
    placeable_now,
)
from autofinity.linux.counted_threads import many_open_files
from autofinity.linux.gaps import gaps
from autofinity.linux.look_budget import LookBudget
from autofinity.linux.online import sysfs_root
from autofinity.linux.process import LinuxProcess, open_pidfd
from autofinity.linux.seated_threads import SeatedThreads
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.errors import AutofinityError, TopologyError
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.runtime.asked_for import kept_pages_note, near_of, pages_may_follow
from autofinity.runtime.creation_seats import masks_of_seats
from autofinity.runtime.journal import Journal
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.loop import Observer, run_loop
from autofinity.runtime.machine_text import machine_text, place_text
from autofinity.runtime.masks import isolation_note
from autofinity.runtime.on_budget import OnBudget
from autofinity.runtime.page_rate import rate_here
from autofinity.runtime.policies import CHOSEN, CHOSEN_BY_USER, NO_POLICY, read_policy
from autofinity.runtime.rank_share import rank_share
from autofinity.runtime.request import Request
from autofinity.runtime.run_header import RunHeader
from autofinity.runtime.sensors import address_sensor, counters_of, hinting, totals_of
from autofinity.runtime.surroundings import Deciding, Make, SeesMemory, Surroundings
from autofinity.runtime.undecided import UNDECIDED, why_undecided
from autofinity.store.site_address import site_name


class Teller(Observer[LiveState], Protocol):
    """Sees every turn, and shows a person more than states do."""

    def say(self, line: str) -> None:
        """Show one line."""
        ...


def watch(request: Request, make: Make, teller: Teller | None = None) -> None:
    """Watch and place until the program ends, by what `make` gives; `teller` sees every turn too.

    Raises `AutofinityError` when that is impossible. Any other error that ends the watching leaves
    the program with its present masks, which is noted.
    """
    if request.pidfd < 0:  # before anything else: a program that ends meanwhile was watched
        request = replace(request, pidfd=open_pidfd(request.pid))
    policy, digest, said = _policy(request)
    header = _header(request, digest)
    topology = _topology(request, header)
    at_start = StartMask.of(request.pid, parse_cpu_list(request.allowed))
    allowed = placeable_now(request.pid, at_start, topology)
    share = rank_share(
        request,
        topology,
        at_start,
        allowed,
        own_cpuset=bool(request.launcher) and in_a_smaller_cpuset_than_its_parent(request.pid),
    )
    if share.one_core:
        request = replace(request, bind="none")
    header = replace(
        header,
        machine=machine_text(topology),
        place=place_text(topology, share.of(allowed)),
        bind=request.bind,
        divided=share.divided,
    )
    journal = Journal(request.db, header, topology)
    notes = (said, _near(request, topology), share.note, isolation_note(topology))
    for line in filter(None, (*notes, *gaps(topology))):
        journal.note(line)
    around = Surroundings(
        topology,
        policy,
        lambda: share.of(placeable_now(request.pid, at_start, topology)),
        journal,
        share.divided,
    )
    try:
        with hinting(request, journal) as pace, many_open_files():
            _loop(request, around, make(request, around), teller, *pace)
    except AutofinityError as error:
        journal.note(f"stopped watching: {error}")
        journal.leave()
    except BaseException:
        journal.leave()
        raise
    else:
        journal.end(totals_of(request))


def _header(request: Request, digest: str) -> RunHeader:
    """Header of the run's rows before the machine is known."""
    return RunHeader(
        program=request.key,
        path=request.program,
        pid=request.pid,
        tier=request.tier,
        threads=request.threads,
        policy=digest,
        bind=request.bind,
        allowed=request.allowed,
        policy_path=str(request.policy or ""),
        earlier_run=request.earlier_run,
        near=request.near,
        site=site_name(request.site),
        started=request.started,
    )


def _topology(request: Request, header: RunHeader) -> Topology:
    """Topology of this machine. Raises `TopologyError`, which is noted in a run of its own."""
    try:
        # Another tree instead of sysfs shows how a run would go with other caches and nodes.
        return read_sysfs(sysfs_root(), allowed=parse_cpu_list(request.allowed))
    except TopologyError as error:
        journal = Journal(request.db, header)
        journal.note(f"{UNDECIDED}{error}")
        journal.leave()
        raise


def _near(request: Request, topology: Topology) -> str:
    """Note on the device that hints prefer; empty where it makes no difference."""
    if not near_of(request, topology):
        return ""
    return f"near {request.near}: hints prefer node {request.near_node}"


def _loop(
    request: Request,
    around: Surroundings,
    mechanism: Deciding[Any],
    teller: Teller | None,
    *observers: Observer[LiveState],
) -> None:
    allowed, journal = parse_cpu_list(request.allowed), around.journal
    budget = LookBudget.of_this_process()
    on_budget = OnBudget(mechanism, budget.spend)
    process = LinuxProcess(
        request.pid,
        request.pidfd,
        allowed,
        counters_of(request, mechanism.sensors.counters, journal, around.policy),
        frozenset(parse_cpu_list(part) for part in request.bound.split(";") if part),
        journal.keep_masks,
        address_sensor(request, mechanism.sensors.detectors, around.topology),
        around.topology.node_os_indices,
        SeatedThreads(request.seated, masks_of_seats(request.seats), journal.note)
        if request.seats
        else None,
        budget,
    )
    if isinstance(mechanism, SeesMemory):
        mechanism.sees_memory(on_budget.free(process.memory))
    start = mechanism.begin(around.topology, allowed, request.threads)
    for line in start.notes:
        journal.note(line)
    told = (teller,) if teller else ()
    follow = _pages_follow(request, around, process, told)
    try:
        state = run_loop(
            process, on_budget, start, mechanism.period_ns, journal, *observers, *told, *follow
        )
        why = why_undecided(state, request.threads)
        if why:
            journal.note(UNDECIDED + why)
    finally:
        for line in process.notes:
            journal.note(line)
        process.close()


def _pages_follow(
    request: Request, around: Surroundings, process: LinuxProcess, tellers: Sequence[Teller]
) -> tuple[Observer[LiveState], ...]:
    """Observer that lets pages follow threads placed by the policy; a recipe moves its pages
    itself.
    """
    if kept := kept_pages_note(request, around.topology):
        around.journal.note(kept)
    if kept or not pages_may_follow(request, around.topology):
        return ()
    from autofinity.runtime.pages_follow import PagesFollow

    def tell(line: str) -> None:
        around.journal.note(line)
        for teller in tellers:
            teller.say(line)

    return (PagesFollow(process, around.topology, tell, rate=rate_here()),)


def _policy(request: Request) -> tuple[RulePolicy | None, str, str]:
    """The policy, its digest, and a note on it."""
    if request.hint is not None:
        return None, "", f"{request.hint.shown} was set by --hint: no policy decided"
    path = request.policy
    if path is None:
        return None, "", f"{NO_POLICY}: nothing is decided"
    try:
        chosen = "" if request.policy_origin in CHOSEN_BY_USER else CHOSEN + request.policy_origin
        return *read_policy(path), chosen
    except AutofinityError as error:
        return None, "", f"the policy is not used: {error}"
