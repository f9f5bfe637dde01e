"""The monitor: watches a program that the launcher started, and places its threads.

    launcher ─► (native half: detached, counters open, 150 ms old) ─► this, by `python -m`

The monitor gets everything by arguments, holds no descriptor of the program, prints nothing, and
ends with the program. An error in the monitor ends the watching, never the program: masks are valid
at every instant, and rows are written as they arise.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from autofinity.affinity.near import NOWHERE, nodes_near
from autofinity.linux.bind import (
    StartMask,
    allowed_now,
    in_a_smaller_cpuset_than_its_parent,
)
from autofinity.linux.cpu_lists import parse_cpu_list
from autofinity.linux.event_tables import Encoding, event_table, this_cpu
from autofinity.linux.gaps import gaps
from autofinity.linux.hinting_pace import Pace
from autofinity.linux.numa_hinting import armed, hinting_is_on
from autofinity.linux.online import SYSFS
from autofinity.linux.perf import read_totals
from autofinity.linux.process import LinuxProcess, open_pidfd
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.detection import Detector, FaultSampling
from autofinity.model.devices import Device
from autofinity.model.errors import AutofinityError, CapabilityError, TopologyError
from autofinity.model.facts import no_facts
from autofinity.model.memory import FAR_READS
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.evidence import can_ask
from autofinity.ports import Mechanism
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.evidence import HARDWARE, measurable
from autofinity.runtime.journal import Journal, RunHeader
from autofinity.runtime.live_state import LiveState, Settings
from autofinity.runtime.loop import Observer, run_loop
from autofinity.runtime.machine_facts import facts_here
from autofinity.runtime.machine_text import machine_text
from autofinity.runtime.phases import PHASE_COUNTERS
from autofinity.runtime.policies import CHOSEN, CHOSEN_BY_USER, NO_POLICY, read_policy
from autofinity.runtime.rank_share import rank_share
from autofinity.runtime.request import Request
from autofinity.runtime.undecided import UNDECIDED, why_undecided
from autofinity.store.site_address import site_name

if TYPE_CHECKING:
    from autofinity.linux.address_sensor import AddressSensor

_NS_PER_S = 1_000_000_000


class Deciding[State: LiveState](Mechanism[State], Protocol):
    """A mechanism that gives the length of each look, and whose state shows the progress of the
    run.
    """

    def period_ns(self, state: State) -> int:
        """Length of the next look."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Surroundings that a mechanism is made from."""

    topology: Topology
    policy: RulePolicy | None
    available: Callable[[], frozenset[OsIndex]]
    """CPUs that may be used now."""
    journal: Journal
    divided: bool = False
    """Whether these CPUs are a rank's share, which it keeps to whatever is decided."""


class Teller(Observer[LiveState], Protocol):
    """Sees every turn, and shows a person more than states do."""

    def say(self, line: str) -> None:
        """Show one line."""
        ...


type Make = Callable[[Request, Surroundings], Deciding[Any]]


def by_policy(request: Request, around: Surroundings) -> LivePolicy:
    """The policy decides; without counters, sharing between threads decides their neighbours."""
    from autofinity.policy.selector import decide

    return LivePolicy(
        around.topology,
        around.policy,
        decide,
        around.available,
        (lambda threads: request.hint) if request.hint else around.journal.hint_on_record,
        replace(
            settings_of(request),
            by_sharing=sharing_shows(request, around.topology),
            blind=is_blind(request, around.policy),
            fallback=request.fallback,
            near=near_of(request, around.topology),
            divided=around.divided,
        ),
        partial(around.journal.reserve, around.topology),
        facts_here(around.topology) if around.policy and around.policy.facts else no_facts,
    )


def near_of(request: Request, topology: Topology) -> frozenset[int]:
    """Logical nodes of the device that hints prefer; empty for none."""
    device = Device((request.near,), "network", nodes=(request.near_node,))
    return nodes_near(topology, device) if request.near else NOWHERE


def is_blind(request: Request, policy: RulePolicy | None) -> bool:
    """Whether nothing that the policy's rules ask for can be measured here."""
    return policy is not None and not can_ask(policy, measurable(request.tier))


def sharing_shows(request: Request, topology: Topology) -> bool:
    """Whether page faults may show more than counters, and the assignment of seats matters.

    Faults are watched only where the kernel lets pages fault again, for each fault has a small
    cost.
    """
    if request.tier == HARDWARE or request.bind == "none":
        return False
    caches = {topology.by_os_index[cpu].llc for cpu in topology.allowed}
    return len(caches) > 1 and hinting_is_on()


def settings_of(request: Request) -> Settings:
    """Settings of the watched run."""
    return Settings(
        threads=request.threads,
        bind=request.bind,
        sample_ns=round(request.sample_s * _NS_PER_S),
        every_ns=round(request.every_s * _NS_PER_S),
    )


def watch(request: Request, teller: Teller | None = None, make: Make = by_policy) -> None:
    """Watch and place until the program ends; `teller` sees every turn too.

    Raises `AutofinityError` when that is impossible. Any other error that ends the watching leaves
    the program with its present masks, which is noted.
    """
    policy, digest, said = _policy(request)
    allowed = parse_cpu_list(request.allowed)
    header = RunHeader(
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
    )
    try:
        # Another tree instead of sysfs shows how a run would go with other caches and nodes.
        topology = read_sysfs(os.environ.get("AUTOFINITY_SYSFS", SYSFS), allowed=allowed)
    except TopologyError as error:
        journal = Journal(request.db, header)
        journal.note(f"{UNDECIDED}{error}")
        journal.leave()
        raise
    present = frozenset(topology.by_os_index)
    at_start = StartMask.of(request.pid, allowed)
    share = rank_share(
        request,
        topology,
        at_start,
        allowed_now(request.pid, at_start) & present,
        own_cpuset=bool(request.launcher) and in_a_smaller_cpuset_than_its_parent(request.pid),
    )
    if share.one_core:
        request = replace(request, bind="none")
    header = replace(
        header, machine=machine_text(topology), bind=request.bind, divided=share.divided
    )
    journal = Journal(request.db, header)
    near = f"near {request.near}: hints prefer node {request.near_node}"
    if not near_of(request, topology):
        near = ""
    for line in filter(None, (said, near, share.note, *gaps(topology))):
        journal.note(line)
    around = Surroundings(
        topology,
        policy,
        lambda: share.of(allowed_now(request.pid, at_start) & present),
        journal,
        share.divided,
    )
    try:
        with _hinting(request, journal) as pace:
            _loop(request, around, make(request, around), teller, *pace)
    except AutofinityError as error:
        journal.note(f"stopped watching: {error}")
        journal.leave()
    except BaseException:
        journal.leave()
        raise
    else:
        journal.end(_totals(request))


def _loop(
    request: Request,
    around: Surroundings,
    mechanism: Deciding[Any],
    teller: Teller | None,
    *observers: Observer[LiveState],
) -> None:
    allowed, journal = parse_cpu_list(request.allowed), around.journal
    process = LinuxProcess(
        request.pid,
        request.pidfd if request.pidfd >= 0 else open_pidfd(request.pid),
        allowed,
        counters_of(request, mechanism.sensors.counters, journal, around.policy),
        frozenset(parse_cpu_list(part) for part in request.bound.split(";") if part),
        journal.keep_masks,
        address_sensor(request, mechanism.sensors.detectors, around.topology),
        around.topology.node_os_indices,
    )
    start = mechanism.begin(around.topology, allowed, request.threads)
    for line in start.notes:
        journal.note(line)
    told = (teller,) if teller else ()
    follow = _pages_follow(request, around, process, told)
    try:
        state = run_loop(
            process, mechanism, start, mechanism.period_ns, journal, *observers, *told, *follow
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
    if request.mechanism != "autofinity" or request.bind == "none" or around.topology.n_nodes < 2:
        return ()
    from autofinity.runtime.pages_follow import PagesFollow

    def tell(line: str) -> None:
        around.journal.note(line)
        for teller in tellers:
            teller.say(line)

    return (PagesFollow(process, around.topology, tell),)


def address_sensor(
    request: Request, detectors: Sequence[Detector], topology: Topology
) -> AddressSensor | None:
    """The sensor of the detector that uses page faults; None without such a detector.

    Where the PMU samples accesses and nobody asked for faults (`--arm`), the sensor uses these
    samples.

    Raises `CapabilityError` for another detector.
    """
    for detector in detectors:
        if not isinstance(detector, FaultSampling):
            raise CapabilityError(
                f"{type(detector).__name__} is not available on Linux; expected a mechanism that "
                "uses page faults"
            )
        from autofinity.linux.access_events import PAGE_FAULTS
        from autofinity.linux.address_sampling import usable_events
        from autofinity.linux.address_sensor import AddressSensor

        events = () if request.arm else usable_events()[0]
        return AddressSensor(detector, topology, events or (PAGE_FAULTS,))
    return None


@contextmanager
def _hinting(request: Request, journal: Journal) -> Iterator[tuple[Pace, ...]]:
    """Switch NUMA hinting on inside the context, where requested and permitted.

    The context gives an observer that sets the pace of hinting, where that may be set.
    """
    with ExitStack() as stack:
        pace: tuple[Pace, ...] = ()
        if request.arm:
            try:
                switched = stack.enter_context(armed())
            except CapabilityError as error:
                journal.note(str(error))
            else:
                if switched.trouble:
                    journal.note(switched.trouble)
                pace = (Pace(switched.pace, request.pid),) if switched.pace else ()
        yield pace


def _totals(request: Request) -> Mapping[str, int]:
    if not request.totals:
        return {}
    names = [name for name, _ in request.totals]
    return read_totals(request.totals[0][1], names)


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


def counters_of(
    request: Request, asked: Sequence[str], journal: Journal, policy: RulePolicy | None
) -> Mapping[str, Encoding]:
    """Events to open on each thread: the counters `asked` for, where this machine counts at all.

    Counters without an event on this CPU are noted, with their effect on the policy.
    """
    if not asked or request.tier != HARDWARE:
        return {}
    table = event_table(this_cpu())
    # Instructions measure the speed in an affinity; without them a sample is useless to learn from.
    wanted = (*asked, *({"instructions"} - set(asked)))
    # Phases and the cost of remote pages use whichever counters exist; the policy loses nothing.
    extra = frozenset((*PHASE_COUNTERS, FAR_READS)).difference(policy.counters if policy else ())
    needed = [name for name in wanted if name == "instructions" or name not in extra]
    unknown = [name for name in needed if name not in measurable(request.tier)]
    if unknown:
        said = f"this CPU has no event for {', '.join(unknown)}"
        # Another note covers a policy that cannot be asked at all: no thread is bound.
        if policy is not None and not is_blind(request, policy):
            from autofinity.policy.lacking import without_text

            said += f": {without_text(policy, unknown)}"
        journal.note(said)
    return {name: table[name] for name in wanted if name in table}


def main(make: Make = by_policy) -> None:
    """Entry of `python -m autofinity.runtime.monitor`. Exit code 1: nothing was watched."""
    try:
        request = Request.parse(sys.argv[1:])
        watch(request, make=make)
        if request.db is not None and (request.site or request.auto_rebuild):
            os.closerange(3, 256)  # descriptors of the program that has ended
            # Loaded only now: memory of the monitor is the program's while that runs.
            if request.site:
                from autofinity.runtime.sending import start_sending

                start_sending(request.db, request.site)
            if request.auto_rebuild:
                from autofinity.runtime.rebuilding import start_rebuild_if_due

                start_rebuild_if_due(request.db)
    except (AutofinityError, OSError, ValueError, KeyError):
        # Nobody can be notified: no terminal, no log of ours, and a program that must not notice.
        os._exit(1)
    os._exit(0)  # nothing is buffered; the interpreter's teardown would only take time


if __name__ == "__main__":
    main()
