"""Masks that threads get as they are created, so that they touch their memory where they stay.

The launcher's native half gives them (`native/launcher/creation.c`), by a text in the decision
cache: masks by number of the thread, from 0.

    COUNT*CPULIST;COUNT*CPULIST;…
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import SPREAD
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.errors import PlacementError, UsageError
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.home_seats import numbered
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.masks import Binding, thread_masks, union, widened
from autofinity.runtime.placer import BY_SHARING
from autofinity.runtime.seat_order import evens_out, exchanged, work_of

NO_SEATS = "-"
_COUNT = "[1-9][0-9]{0,3}"
_LIST = "[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*"
_SEATS = re.compile(rf"{NO_SEATS}|{_COUNT}\*{_LIST}(?:;{_COUNT}\*{_LIST})*")
_MOST_THREADS = 4096  # as the launcher has it
_LONGEST = 16_000
"""In characters: the launcher keeps no more."""
type Masks = tuple[frozenset[OsIndex], ...]


def seats_text(masks: Masks) -> str:
    """The masks as the launcher reads them."""
    runs = ((format_cpu_list(mask), len(list(alike))) for mask, alike in groupby(masks))
    text = ";".join(f"{count}*{cpus}" for cpus, count in runs)
    return text if 0 < len(text) <= _LONGEST else NO_SEATS


def is_seats(text: str) -> bool:
    """Whether a text of the cache has the form of seats. Masks of a damaged one would fill the
    memory: only the launcher knows which of them can be used.
    """
    return len(text) <= _LONGEST and _SEATS.fullmatch(text) is not None


def masks_of_seats(text: str) -> Masks:
    """The masks in a text that the launcher uses. Raises `UsageError` for a text that gives none,
    or gives masks to more threads than the launcher does.
    """
    found: list[frozenset[OsIndex]] = []
    for part in text.split(";") if text != NO_SEATS else ():
        count, _, cpus = part.partition("*")
        mask = parse_cpu_list(cpus)
        if not re.fullmatch(_COUNT, count) or not mask:
            raise UsageError(f"got {part!r} as seats of threads, expected COUNT*CPULIST")
        if len(found) + int(count) > _MOST_THREADS:
            raise UsageError(f"got seats of more than {_MOST_THREADS} threads")
        found += [mask] * int(count)
    return tuple(found)


def masks_of_next_run(topology: Topology, state: LiveState, bind: Binding) -> Masks:
    """Masks for the next run of a program that is placed: its threads in the order of their
    numbers, as long as no sharing was seen that says more. Caches whose work would be uneven then
    exchange threads, unless that was tried and was no faster.

    Empty where threads have no seats of their own, or numbers show that threads come and go. An
    order that was tried and was no faster counts for nothing: pages stayed behind then.
    """
    seated = state.seated
    if not seated or len(seated) != len(state.placed) or len(seated) != len(state.seats):
        return ()
    if max(seated) > len(seated):
        return ()
    seats: Sequence[OsIndex] = state.seats
    if BY_SHARING not in state.notes:
        seats, seated = numbered(topology, seats, {}), tuple(sorted(seated))
        if _exchange(topology, seats, state):
            seats = exchanged(topology, seats)
    masks = widened(topology, [frozenset({seat}) for seat in seats], state.available, bind)
    own, everywhere = dict(zip(seated, masks, strict=True)), union(masks)
    return tuple(own.get(number, everywhere) for number in range(1 + max(seated)))


def _exchange(topology: Topology, seats: Sequence[OsIndex], state: LiveState) -> bool:
    """Whether threads that sit on these seats by number are to exchange caches."""
    order = state.order
    if order.exchanged:
        return True
    if order.by_number or any(each.exchanged for each in state.slower_orders):
        return False  # as it is, the order by number was faster
    return evens_out(topology, seats, work_of(state.work, sorted(state.seated)))


def starting_masks(
    topology: Topology, threads: int, available: frozenset[OsIndex], bind: Binding
) -> Masks:
    """Masks of the affinity that every unknown program is sampled in first; empty: none has room
    for so many threads.
    """
    try:
        cores = get_affinity(topology, threads, SPREAD, available)
    except PlacementError:
        return ()
    return thread_masks(topology, cores, available, bind)
