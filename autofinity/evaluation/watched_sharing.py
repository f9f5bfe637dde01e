"""Sharing between threads of a captured program, as a published detector sees it and as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from autofinity.detect.scaled import SCALED, RunWithout
from autofinity.detect.whole_trace import whole_trace
from autofinity.model.detection import Detector
from autofinity.model.placement import Placement
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.ports import RunRequest, Sensors
from autofinity.sim.machine import SimMachine
from autofinity.sim.replay import load_program, workers_of

_COUNTED = (
    "page_walks",
    "cache_to_cache_transfers_same_package",
    "cache_to_cache_transfers_remote",
)
_ENDLESS_NS = 10**15


@dataclass(frozen=True, slots=True)
class SeenSharing:
    """Sharing and page use that a source has seen, and their cost."""

    sharing: SharingMatrix
    pages: NumaVectors
    detector: Detector | None = None
    roi_ns: int | None = None
    roi_ns_without: int | None = None
    triggers: int = 0
    overhead_ns: Mapping[str, int] = field(default_factory=dict)


def in_whole_trace(
    machine: SimMachine, request: RunRequest, placement: Placement, page_bytes: int | None = None
) -> SeenSharing:
    """Sharing by all accesses, without a run; threads are on the nodes of the placement.

    `page_bytes` as in `whole_trace`; default: the machine's pages.
    """
    workers = workers_of(request.program, request.threads)
    sharing, accesses = whole_trace(
        load_program(request.program), workers, page_bytes or machine.spec.page_bytes
    )
    topology = machine.topology
    nodes = [topology.by_os_index[min(mask)].node for mask in placement.masks]
    return SeenSharing(sharing, accesses.by_node(nodes, topology.n_nodes))


def watched(
    machine: SimMachine,
    request: RunRequest,
    placement: Placement,
    detector_for: Callable[[RunWithout], Detector],
    whole: SeenSharing,
    seed: int = 1,
) -> SeenSharing:
    """Sharing in a run with a detector that is scaled to a run without one, as those of `SCALED`
    are.
    """
    without = _without(machine, request, placement, whole, seed)
    detector = detector_for(without)
    process = machine.start(request, placement, Sensors(detectors=(detector,)), seed)
    seen = process.advance(_ENDLESS_NS)
    return SeenSharing(
        seen.sharing or SharingMatrix(()),
        seen.pages or NumaVectors({}),
        detector,
        seen.end_ns,
        without.roi_ns,
        seen.triggers,
        dict(seen.overhead_ns),
    )


def _without(
    machine: SimMachine,
    request: RunRequest,
    placement: Placement,
    whole: SeenSharing,
    seed: int,
) -> RunWithout:
    seen = machine.start(request, placement, Sensors(_COUNTED), seed).advance(_ENDLESS_NS)
    total = {name: sum(sample.counts[name] for sample in seen.samples) for name in _COUNTED}
    vectors = whole.pages.pages
    return RunWithout(
        seen.end_ns,
        request.threads,
        total["page_walks"],
        sum(total[name] for name in _COUNTED[1:]),
        sum(map(sum, vectors.values())) / max(1, len(vectors)),
        machine.spec.tlb.l2_entries or machine.spec.tlb.l1_entries,
    )


def watched_over_time(
    machine: SimMachine,
    request: RunRequest,
    placement: Placement,
    source: str,
    looks: int,
    seed: int = 1,
) -> list[tuple[float, SharingMatrix]]:
    """Sharing in about `looks` looks: share of the work done, and the sharing since the last
    look.
    """
    whole = in_whole_trace(machine, request, placement)
    without = _without(machine, request, placement, whole, seed)
    sensors = Sensors(detectors=(SCALED[source](without),))
    process = machine.start(request, placement, sensors, seed)
    found: list[tuple[float, SharingMatrix]] = []
    ended = False
    while not ended:
        seen = process.advance(max(1, without.roi_ns // looks))
        found.append((seen.progress, seen.sharing or SharingMatrix(())))
        ended = seen.ended
    return found
