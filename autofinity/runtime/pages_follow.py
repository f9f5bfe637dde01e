"""Memory follows threads: an observer of the loop that finds pages left behind after threads were
placed, reports them, and moves them where that pays.

    placed, and a look later ─► memory by node ─► `left_behind` ─► one line
                                                      │
             moving seems to pay (`pages_pay`) ◄──────┘
                 │ a part moves first, of much memory, and that pays
                 └──► moved, some each look ─► one line

Moving pays where remote reads will cost the program more than the move, in the rest of a minute,
which every run is assumed to last. Later, or where that is not so, moving pays once remote reads
have cost an equal time: then a wrong decision at most doubles the loss of doing nothing.

A second look in a packed affinity, or a trial, would show remote reads, not that affinity. So pages
that can be moved quickly move along, and go back as far as the affinity that is the answer. Pages
that followed threads whose placement the guard undoes go back, too.

So do pages on other nodes of the threads' socket, which are nearly as near: `fft` on `epyc-9654`
is slower where an eighth of its memory stays on the next node.

They move along with the threads, before caches settle. When they came later, and only where the
program was not far slower, programs that stream from memory gained 1 to 3 % of a minute. But looks
at caches that the copies had emptied decided: `bfs` on `epyc-9654` stayed spread, five times
slower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autofinity.model.memory import SMALL_PAGE_BYTES, MemoryByNode
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Interval, Outcome, ShowsMemory
from autofinity.runtime.follower import guarded
from autofinity.runtime.left_behind import LeftBehind, left_behind
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.looking import LASTS_NS
from autofinity.runtime.looks import look_of
from autofinity.runtime.page_moves import PageMoves, View
from autofinity.runtime.page_rate import TODAYS, PageRate
from autofinity.runtime.pages_pay import PagesPay
from autofinity.runtime.part_first import LOOK_NS, ONE_IN
from autofinity.runtime.thread_homes import ThreadHomes

_BATCHES_A_LOOK = 64  # of some thousand pages, so that looks at the program go on

type Seats = tuple[tuple[int, ...], tuple[OsIndex, ...]]
"""Numbers of the threads, and the PUs of the placement."""


@dataclass(slots=True)
class _SincePlaced:
    """Record since threads were last placed."""

    seats: object
    since_ns: int
    found: LeftBehind | None = None
    seen_after_ns: int = 0
    """Time from the placement to `found`."""
    pages_moved: int = 0
    """Pages of the part."""
    over: bool = False


@dataclass(frozen=True, slots=True)
class _Followed:
    """Pages have followed the threads to these seats."""

    seats: Seats
    homes_before: dict[int, int]
    view_before: View


@dataclass(frozen=True, slots=True)
class _AtHome:
    """Before pages first followed: at home the pages of threads are distinguished best."""

    homes: dict[int, int]
    memory: MemoryByNode


class PagesFollow:
    """Sees every turn of a loop over `process`, and reports in single lines."""

    def __init__(
        self,
        process: ShowsMemory,
        topology: Topology,
        tell: Callable[[str], None],
        lasts_ns: float = LASTS_NS,
        rate: PageRate = TODAYS,
    ) -> None:
        """`lasts_ns`: least assumed length of the program's run; `rate`: that of page moves."""
        self._few_bytes = rate.few_bytes
        self._lasts_ns = lasts_ns
        self._process = process
        self._topology = topology
        self._tell = tell
        self._begin_ns: int | None = None
        self._homes = ThreadHomes(topology)
        self._placed: _SincePlaced | None = None
        self._pay = PagesPay(rate)
        self._hurries = False
        """Whether the next look is to be short."""
        self._moves = PageMoves(process)
        self._trail: list[_Followed] = []
        """Where pages have followed threads, while they may go back."""
        self._followed_to: set[int] = set()
        """Nodes to which pages have followed threads for good."""
        self._at_home: _AtHome | None = None
        """None where pages have followed an answer since: then they come along to no trial."""

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        """See one turn of the loop."""
        if self._topology.n_nodes < 2 or interval.ended:
            return
        if self._begin_ns is None:
            self._begin_ns = interval.start_ns
        self._hurries = False
        self._homes.note(before, interval)
        if self._moves.returning:
            self._go_on()
        if after.phase == "sampling" and after.along.asked != "none":
            same = before.phase == after.phase and before.along.asked == after.along.asked
            self._bring(after, begins=not same)
            return
        if _elsewhere(after) and outcome is not None:
            self._come_along(after)
        elif self._trail and not self._stay_for_now(after):
            self._left_again(before, after)
        if after.phase == "placed" and after.placed.cpus:
            self._saw_placed(after, interval)
            return
        self._placed = None
        self._pay.break_off()
        self._moves.stop()

    def _saw_placed(self, after: LiveState, interval: Interval) -> None:
        """See one turn of placed threads."""
        seats = after.placed.threads, after.placed.seats, after.placed.cpus
        if self._placed is None or self._placed.seats != seats:
            # The threads move there only now.
            self._placed = _SincePlaced(seats, interval.end_ns)
            self._pay.begin(after)
            self._moves.stop()
            return
        if not self._may_go_back(after) and not self._moves.under_way:
            self._stay()
        now = None if self._moves.returning else self._homes.of_cpus(after.placed, interval.cpus)
        if now is None or self._placed.over:
            return
        counts = after.same_threads
        if self._moves.under_way:
            self._move_some(self._placed, after, now)
        else:
            if self._pay.trying:
                self._pay.saw(look_of(interval, after.workers, after.cores), counts=counts)
            self._weigh(self._placed, after, now, interval.end_ns)
        if counts and self._pay.trying and not self._placed.over:
            self._hurries = True

    @property
    def next_look_ns(self) -> int | None:
        """Longest next look while a part of the pages is on trial, or pages move; else None."""
        return LOOK_NS if self._hurries else None

    def _may_go_back(self, state: LiveState) -> bool:
        """Whether pages that followed threads to their placement may go back."""
        return guarded(state) or self._pay.trying

    def _weigh(
        self, placed: _SincePlaced, state: LiveState, now: Sequence[int], now_ns: int
    ) -> None:
        for_ns = now_ns - placed.since_ns
        # A look at all pages is slow with much memory: such looks get ever rarer.
        if placed.found is None or for_ns >= 2 * placed.seen_after_ns:
            found = self._look(state, now)
            if found is None:
                placed.over = True
                self._tell("pages stay where they are: the kernel does not report their nodes")
                return
            if placed.found is None:
                self._tell(found.text(self._topology, followed=found.one_node in self._followed_to))
            placed.found, placed.seen_after_ns = found, for_ns
        found = placed.found
        if not found.belongs:
            placed.over = True
            return
        unknown = self._pay.loss is None
        assert self._begin_ns is not None
        step = self._pay.step(found, state, self._lasts_ns - (now_ns - self._begin_ns), for_ns)
        if step == "wait":
            if unknown and self._pay.loss is not None:
                self._tell(self._pay.loss.text(found.bytes_to_move / found.total_bytes))
            return
        if step == "move a part":  # the last look at its memory may be old
            found = placed.found = self._look(state, now) or found
        one_in = ONE_IN if step == "move a part" else 1
        self._follow(state, _after(self._moves.view, found.belongs), one_in)
        self._at_home = None
        self._move_some(placed, state, now)

    def _look(self, state: LiveState, now: Sequence[int]) -> LeftBehind | None:
        memory = self._process.memory()
        if memory is None:
            return None
        homes = self._homes.of(state.placed.threads)
        return left_behind(self._topology, memory, homes, now)

    def _stay_for_now(self, state: LiveState) -> bool:
        """Whether pages stay for now: threads are where pages followed, or on a trial to which no
        pages come along.
        """
        return (state.trying is not None and self._at_home is None) or self._at(state) == (
            self._trail[-1].seats
        )

    def _at(self, state: LiveState) -> Seats | None:
        """Seats of the threads; None where they are let go."""
        return None if state.phase == "left alone" else (state.placed.threads, state.placed.seats)

    def _left_again(self, before: LiveState, after: LiveState) -> None:
        """Handle threads that left the seats that pages followed: pages go back, as far as the
        threads do. Pages that are still near stay.
        """
        if before.phase == "placed" and not self._may_go_back(before):
            self._stay()
        seats = self._at(after)
        known = any(followed.seats == seats for followed in self._trail)
        while self._trail and self._trail[-1].seats != seats:
            if seats is not None and not known and self._near(self._trail[-1].seats, seats):
                self._trail[-1] = replace(self._trail[-1], seats=seats)
                return
            followed = self._trail.pop()
            self._moves.back(followed.view_before)
            self._homes.restore(followed.homes_before)
        if self._moves.returning:
            self._go_on()

    def _near(self, was: Seats, now: Seats) -> bool:
        """Whether the same threads sit on nodes that are all near those of their former seats."""
        is_near = self._topology.is_near
        before, after = (self._homes.nodes(each[1]) for each in (was, now))
        return was[0] == now[0] and all(is_near(a, b) for a in before for b in after)

    def _stay(self) -> None:
        """Pages do not go back any more."""
        self._followed_to.update(*self._moves.view.values())
        self._moves.final()
        self._trail.clear()

    def _bring(self, state: LiveState, *, begins: bool) -> None:
        """Move pages that a second look asks for: a part of them at once, all of them turn by
        turn.
        """
        if begins:
            self._begin_to_bring(state, part=state.along.asked == "part")
        while self._moves.under_way:
            self._go_on()
            if state.along.asked == "all":
                return

    def _begin_to_bring(self, state: LiveState, *, part: bool) -> None:
        now = self._homes.of_seats(state.placed)
        found = None if now is None else self._look(state, now)
        if now is None or found is None:
            return
        one_in = math.ceil(found.bytes_to_move / self._few_bytes) if part else 1
        self._follow(state, _after(self._moves.view, found.belongs), max(1, one_in))
        if not part:
            self._at_home = None
            self._homes.move(state.placed.threads, now)

    def _come_along(self, state: LiveState) -> None:
        """Move pages along to a second look or a trial, where that takes little time."""
        now = self._homes.of_seats(state.placed)
        if now is None:
            return
        if not self._trail:
            memory = self._process.memory()
            self._at_home = None if memory is None else _AtHome(self._homes.by_number, memory)
        home = self._at_home
        if home is None or not home.homes.keys() >= set(state.placed.threads):
            return
        homes = [home.homes[number] for number in state.placed.threads]
        found = left_behind(self._topology, home.memory, homes, now, near_too=True)
        if found.bytes_to_move > self._few_bytes:  # then only what is far
            found = left_behind(self._topology, home.memory, homes, now)
        if found.bytes_to_move > self._few_bytes:
            return
        self._follow(state, found.belongs)
        while self._moves.under_way:
            self._go_on()
        self._homes.restore(home.homes)
        if found.belongs:
            self._homes.move(state.placed.threads, now)

    def _go_on(self) -> None:
        """Move some pages that are under way, and some more after a short look."""
        self._moves.go_on(_BATCHES_A_LOOK)
        self._hurries = self._moves.under_way

    def _follow(self, state: LiveState, view: View, one_in: int = 1) -> None:
        seats = state.placed.threads, state.placed.seats
        self._trail.append(_Followed(seats, self._homes.by_number, self._moves.view))
        self._moves.begin(view, one_in)

    def _move_some(self, placed: _SincePlaced, state: LiveState, now: Sequence[int]) -> None:
        self._go_on()
        if self._moves.under_way:
            return
        if self._pay.moving_a_part and self._moves.moved:
            self._moved_a_part(placed, state, now)
            return
        placed.over = True
        self._homes.move(state.placed.threads, now)
        stayed = f"; {self._moves.stayed} could not be moved" if self._moves.stayed else ""
        moved = placed.pages_moved + self._moves.moved
        self._tell(f"{moved} pages were moved to their threads{stayed}")

    def _moved_a_part(self, placed: _SincePlaced, state: LiveState, now: Sequence[int]) -> None:
        found = self._look(state, now)
        assert placed.found is not None
        left = placed.found.bytes_to_move if found is None else found.bytes_to_move
        # Some pages are larger; meanwhile the program may have touched more.
        least = self._moves.moved * SMALL_PAGE_BYTES
        size_bytes = max(placed.found.bytes_to_move - left, least)
        self._pay.moved_a_part(size_bytes, self._moves.took_ns)
        placed.found, placed.pages_moved = found or placed.found, self._moves.moved


def _elsewhere(state: LiveState) -> bool:
    """Whether threads go to a second look or a trial."""
    return state.phase == "settling" and (state.sampling.again or state.trying is not None)


def _after(view: View, belongs: View) -> View:
    """The view in which pages go on from where they are in a view."""
    return {**belongs} | {
        home: tuple(then for node in nodes for then in belongs.get(node, (node,)))
        for home, nodes in view.items()
    }
