"""Masks that threads get as they are created, so that they touch their memory where they stay.

The launcher's native half gives them (`native/launcher/creation.c`), by a text in the decision
cache: masks by number of the thread, from 0.

    COUNT*CPULIST;COUNT*CPULIST;…
"""

from __future__ import annotations

import re
from itertools import groupby

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import SPREAD
from autofinity.model.answer_on_record import SeatOrder
from autofinity.model.cpu_lists import format_cpu_list, parse_cpu_list
from autofinity.model.errors import PlacementError, UsageError
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.home_seats import neighbours, numbered
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.masks import Binding, thread_masks, union, widened
from autofinity.runtime.placed import Placed
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
    numbers, as long as no sharing was seen that says more; or exchanged (`order_of_next_run`).

    Empty where threads have no seats of their own, or numbers show that threads come and go. An
    order by number that was tried and was no faster counts for nothing: pages stayed behind then.
    """
    if not _own_seats(state.placed):
        return ()
    placed = state.placed
    seats, seated = placed.seats, placed.seated
    if BY_SHARING not in state.notes:
        seats, seated = numbered(topology, seats, {}), tuple(sorted(seated))
        if order_of_next_run(topology, state) == "exchanged":
            seats = exchanged(topology, seats)
    masks = widened(topology, [frozenset({seat}) for seat in seats], placed.available, bind)
    own, everywhere = dict(zip(seated, masks, strict=True)), union(masks)
    return tuple(own.get(number, everywhere) for number in range(1 + max(seated)))


def order_of_next_run(topology: Topology, state: LiveState) -> SeatOrder:
    """The order that goes on record for the next run: the present one.

    But threads near home, which the system has mixed, begin the next run by number. Where that
    would make their caches' work uneven, they begin it exchanged: neither was tried with pages
    where the threads sit.
    """
    order = state.order.now
    if order != "near home" or not _own_seats(state.placed) or BY_SHARING in state.notes:
        return order
    threads, now = sorted(state.placed.seated), state.placed.seat_of
    seats = numbered(topology, state.placed.seats, {})
    if neighbours(topology, [now[n] for n in threads]) == neighbours(topology, seats):
        return order
    work = work_of(state.sampling.work, threads)
    return "exchanged" if evens_out(topology, seats, work) else order


def _own_seats(placed: Placed) -> bool:
    """Whether each thread has a seat, and numbers are not those of threads that come and go."""
    seated = placed.seated
    return bool(seated) and placed.all_seated and max(seated) <= len(seated)


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
