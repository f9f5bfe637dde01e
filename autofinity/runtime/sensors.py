"""Sensors of a monitor: counters, page faults, NUMA hinting.

Where this machine lacks one of them, the journal notes it, and the run goes on without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from autofinity.linux.event_tables import Encoding, event_table, this_cpu
from autofinity.linux.hinting_pace import Pace
from autofinity.linux.numa_hinting import armed
from autofinity.linux.perf import read_totals
from autofinity.linux.unmapped_pages import NOTHING_UNMAPPED, unmapped_pages
from autofinity.model.detection import Detector, FaultSampling
from autofinity.model.errors import CapabilityError
from autofinity.model.memory import FAR_READS
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.runtime.asked_for import is_blind
from autofinity.runtime.evidence import HARDWARE, measurable
from autofinity.runtime.journal import Journal
from autofinity.runtime.phases import PHASE_COUNTERS
from autofinity.runtime.request import Request

if TYPE_CHECKING:
    from autofinity.linux.address_sensor import AddressSensor


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
def hinting(request: Request, journal: Journal) -> Iterator[tuple[Pace, ...]]:
    """Switch NUMA hinting on inside the context, where requested and permitted.

    The context gives an observer that sets the pace of hinting, where that may be set.
    """
    with ExitStack() as stack:
        switched = None
        if request.arm:
            try:
                switched = stack.enter_context(armed())
            except CapabilityError as error:
                journal.note(str(error))
        if switched is None:
            yield ()
            return
        if switched.trouble:
            journal.note(switched.trouble)
        before = unmapped_pages()
        yield (Pace(switched.pace, request.pid),) if switched.pace else ()
        if before is not None and unmapped_pages() == before:
            journal.note(NOTHING_UNMAPPED)


def totals_of(request: Request) -> Mapping[str, int]:
    """Counts of the whole run, by name, from the counters that the launcher opened."""
    if not request.totals:
        return {}
    names = [name for name, _ in request.totals]
    return read_totals(request.totals[0][1], names)
