"""Sharing between threads and use of pages: in a captured program, and in one run on this
machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.errors import UsageError
from autofinity.ports import RunRequest
from autofinity.profiling.placements import bound

if TYPE_CHECKING:
    from autofinity.evaluation.watched_sharing import SeenSharing
    from autofinity.linux.touch_sharing import TouchSharing
    from autofinity.sim.machine import SimMachine

WHOLE_TRACE = "trace"
"""Name of the source that sees all accesses, without a run."""


@dataclass(frozen=True, slots=True)
class Detected:
    """Findings of a detector about a captured program, and the complete sharing."""

    found: SeenSharing
    whole: SeenSharing


def detect(
    machine: SimMachine,
    trace: Path,
    source: str,
    *,
    threads: int | None = None,
    hint: Hint = SPREAD,
    seed: int = 0,
) -> Detected:
    """Run the program of a trace under the detector `source` (`SCALED`, or `WHOLE_TRACE`).

    `threads` are placed by the hint, by default as many as the program had. Raises `UsageError`,
    `TraceError`, `PlacementError`, `SimulationError`.
    """
    from autofinity.detect.scaled import SCALED
    from autofinity.evaluation.watched_sharing import in_whole_trace, watched
    from autofinity.workflow.simulate import check_run, threads_of

    if source not in (*SCALED, WHOLE_TRACE):
        known = ", ".join((*SCALED, WHOLE_TRACE))
        raise UsageError(f"unknown detector {source!r}; expected one of {known}")
    check_run(seed)
    team = threads_of(trace, threads)
    request = RunRequest(str(trace), threads=team)
    placement = bound(get_affinity(machine.topology, team, hint).cpus)
    whole = in_whole_trace(machine, request, placement)
    if source == WHOLE_TRACE:
        return Detected(whole, whole)
    return Detected(watched(machine, request, placement, SCALED[source], whole, seed), whole)


@dataclass(frozen=True, slots=True)
class DetectedHere:
    """Findings about a program that ran on this machine."""

    exit_code: int
    seen: TouchSharing
    lost: int
    """Number of events that came too fast to be recorded."""
    events: tuple[str, ...]
    """Kinds of events that were recorded."""
    why_not_sampled: str
    """Why only page faults were recorded; empty where accesses were sampled."""
    numa_hinting: bool
    """Whether the kernel was to make pages fault again."""
    pages_unmapped: int | None
    """Number of page table entries, of all programs, that it changed for that; None: not known."""

    @property
    def started(self) -> bool:
        """Whether the program could be run at all."""
        return self.exit_code not in (126, 127) or bool(self.seen.tids)


def detect_here(program: Sequence[str], *, arm: bool, to_stderr: bool) -> DetectedHere:
    """Run the program on our standard streams and record its accesses, or its page faults.

    With `arm` (root only) the kernel makes its pages fault again and again. The program's output
    goes to stderr with `to_stderr`. Raises `CapabilityError`, and `UsageError` without a program.
    """
    if not program:
        raise UsageError("no program to run; expected its name and arguments")
    from autofinity.linux.access_events import PAGE_FAULTS
    from autofinity.linux.address_sampling import usable_events
    from autofinity.linux.numa_hinting import armed, hinting_is_on
    from autofinity.linux.unmapped_pages import unmapped_pages
    from autofinity.linux.watched_program import watch_touches

    events, why_not = ((), "page faults were asked for") if arm else usable_events()
    recorded = events or (PAGE_FAULTS,)
    with armed() if arm else nullcontext():
        hinting, before = hinting_is_on(), unmapped_pages()
        code, seen, lost = watch_touches(program, events=recorded, to_stderr=to_stderr)
        after = unmapped_pages()
        unmapped = None if before is None or after is None else after - before
    names = tuple(event.name for event in recorded)
    return DetectedHere(code, seen, lost, names, "" if events else why_not, hinting, unmapped)
