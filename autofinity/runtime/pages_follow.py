"""Memory follows threads: an observer of the loop that finds pages left behind after threads were
placed, reports them, and moves them where that pays.

    placed, and a look later ─► memory by node ─► `left_behind` ─► one line
                                                      │
               it will cost more than moving it ◄──┘──► moved, some each look ─► one line

Moving pays where remote reads will cost the program more than the move, in the rest of a minute,
which every run is assumed to last. Later, or where that is not so, moving pays once remote reads
have cost an estimated equal time: then a wrong decision at most doubles the loss of doing nothing.
The cost of remote reads is that of the sampled misses of the last-level cache, each
`REMOTE_READ_NS` longer; where misses are not counted, a tenth of the time.

A second look in a packed affinity, or a trial, would show remote reads, not that affinity. So pages
that can be moved quickly move along, and go back as far as the affinity that is the answer. Pages
that followed threads whose placement the guard undoes go back, too.

They move along with the threads, before caches settle. When they came later, and only where the
program was not far slower, programs that stream from memory gained 1 to 3 % of a minute. But looks
at caches that the copies had emptied decided: `bfs` on `epyc-9654` stayed spread, five times
slower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autofinity.model.memory import FAR_READS, MOVED_BYTES_PER_S, REMOTE_READ_NS, MemoryByNode
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Interval, Outcome, ShowsMemory
from autofinity.runtime.follower import guarded
from autofinity.runtime.left_behind import LeftBehind, left_behind
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.looking import SHARE
from autofinity.runtime.page_moves import PageMoves, View

ASSUMED_LOSS = 0.1
"""Share of its time that a program with only remote pages loses, where misses are not known."""
LASTS_NS = 60e9
"""Least assumed length of every run, a minute, as for the budget of looks (`looking`)."""
COME_ALONG_BYTES = round(SHARE * LASTS_NS / 1e9 * MOVED_BYTES_PER_S)
"""Bytes moved in the time that all looks may cost: 74 MB."""
_BATCHES_A_LOOK = 64  # of some thousand pages, so that looks at the program go on
_MIB = 1 << 20


@dataclass(slots=True)
class _Placed:
    """Record since threads were last placed."""

    seats: object
    since_ns: int
    found: LeftBehind | None = None
    seen_after_ns: int = 0
    """Time from the placement to `found`."""
    over: bool = False


@dataclass(frozen=True, slots=True)
class _Followed:
    """Pages have followed the threads to these seats."""

    seats: object
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
    ) -> None:
        """`lasts_ns`: least assumed length of the program's run."""
        self._lasts_ns = lasts_ns
        self._process = process
        self._topology = topology
        self._tell = tell
        self._begin_ns: int | None = None
        self._homes: dict[int, int] = {}
        """Node on which each thread touched its pages, by number."""
        self._placed: _Placed | None = None
        self._moves = PageMoves(process)
        self._trail: list[_Followed] = []
        """Where pages have followed threads, while they may go back."""
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
        self._note_homes(before, interval)
        seats = after.placed, after.seats
        if _elsewhere(after) and outcome is not None:
            self._come_along(after)
        elif self._trail and seats != self._trail[-1].seats:
            self._left_again(before, seats)
        if after.phase != "placed" or not after.cpus:
            self._placed = None
            self._moves.stop()
            return
        if self._placed is None or self._placed.seats != (*seats, after.cpus):
            # The threads move there only now.
            self._placed = _Placed((*seats, after.cpus), interval.end_ns)
            self._moves.stop()
            return
        if not guarded(after) and not self._moves.under_way:
            self._stay()
        now = self._nodes_of(after.placed, interval.cpus)
        if now is None or self._placed.over:
            return
        if self._moves.under_way:
            self._move_some(after, now)
        else:
            self._weigh(self._placed, after, now, interval.end_ns)

    def _note_homes(self, before: LiveState, interval: Interval) -> None:
        """Record homes: until threads are bound, where they run; for later threads, where they
        begin.
        """
        for number in interval.threads("end"):
            self._homes.pop(number, None)
        for number, cpu in enumerate(interval.cpus):
            pu = self._topology.by_os_index.get(cpu)
            if pu is not None and (not before.cpus or number not in self._homes):
                self._homes[number] = pu.node

    def _nodes_of(self, numbers: Sequence[int], cpus: Sequence[OsIndex]) -> list[int] | None:
        """Nodes of these threads now; None where the CPU of a thread is not known."""
        pus = self._topology.by_os_index
        if any(number >= len(cpus) or cpus[number] not in pus for number in numbers):
            return None
        return [pus[cpus[number]].node for number in numbers]

    def _weigh(self, placed: _Placed, state: LiveState, now: Sequence[int], now_ns: int) -> None:
        for_ns = now_ns - placed.since_ns
        # A look at all pages is slow with much memory: such looks get ever rarer.
        if placed.found is None or for_ns >= 2 * placed.seen_after_ns:
            found = self._look(state, now)
            if found is None:
                placed.over = True
                self._tell("pages stay where they are: the kernel does not report their nodes")
                return
            if placed.found is None:
                self._tell(_found_text(found, self._topology))
            placed.found, placed.seen_after_ns = found, for_ns
        found = placed.found
        if not found.belongs:
            placed.over = True
        elif self._pays(found, state, for_ns, now_ns):
            self._follow(state, _after(self._moves.view, found.belongs))
            self._at_home = None
            self._move_some(state, now)

    def _pays(self, found: LeftBehind, state: LiveState, for_ns: int, now_ns: int) -> bool:
        assert self._begin_ns is not None
        lost_ns = max(for_ns, self._lasts_ns - (now_ns - self._begin_ns))
        return _lost_s(found, state, lost_ns) * MOVED_BYTES_PER_S >= found.bytes_to_move

    def _look(self, state: LiveState, now: Sequence[int]) -> LeftBehind | None:
        memory = self._process.memory()
        if memory is None:
            return None
        homes = [self._homes[number] for number in state.placed]
        return left_behind(memory, homes, now)

    def _left_again(self, before: LiveState, seats: object) -> None:
        """Handle threads that left the seats that pages followed: pages go back, as far as the
        threads do.
        """
        if before.phase == "placed" and not guarded(before):
            self._stay()
        while self._trail and self._trail[-1].seats != seats:
            followed = self._trail.pop()
            self._moves.back(followed.view_before)
            self._homes = dict(followed.homes_before)

    def _stay(self) -> None:
        """Pages do not go back any more."""
        self._moves.final()
        self._trail.clear()

    def _come_along(self, state: LiveState) -> None:
        """Move pages along to a second look or a trial, where that takes little time."""
        pus = self._topology.by_os_index
        now = [pus[cpu].node for cpu in state.seats]
        if len(now) != len(state.placed) or not self._homes.keys() >= set(state.placed):
            return
        if not self._trail:
            memory = self._process.memory()
            self._at_home = None if memory is None else _AtHome(dict(self._homes), memory)
        home = self._at_home
        if home is None or not home.homes.keys() >= set(state.placed):
            return
        found = left_behind(home.memory, [home.homes[number] for number in state.placed], now)
        if found.bytes_to_move > COME_ALONG_BYTES:
            return
        self._follow(state, found.belongs)
        while self._moves.under_way:
            self._moves.go_on(_BATCHES_A_LOOK)
        self._homes = dict(home.homes)
        if found.belongs:
            self._homes.update(zip(state.placed, now, strict=True))

    def _follow(self, state: LiveState, view: View) -> None:
        seats = state.placed, state.seats
        self._trail.append(_Followed(seats, dict(self._homes), self._moves.view))
        self._moves.begin(view)

    def _move_some(self, state: LiveState, now: Sequence[int]) -> None:
        self._moves.go_on(_BATCHES_A_LOOK)
        if self._moves.under_way:
            return
        assert self._placed is not None
        self._placed.over = True
        self._homes.update(zip(state.placed, now, strict=True))
        stayed = f"; {self._moves.stayed} could not be moved" if self._moves.stayed else ""
        self._tell(f"{self._moves.moved} pages were moved to their threads{stayed}")


def _elsewhere(state: LiveState) -> bool:
    """Whether threads go to a second look or a trial."""
    return state.phase == "settling" and (state.again or state.trying is not None)


def _after(view: View, belongs: View) -> View:
    """The view in which pages go on from where they are in a view."""
    return {**belongs} | {
        home: tuple(then for node in nodes for then in belongs.get(node, (node,)))
        for home, nodes in view.items()
    }


def _lost_s(found: LeftBehind, state: LiveState, for_ns: float) -> float:
    """Estimated seconds that each thread loses to remote reads in `for_ns`."""
    return loss(state) * (found.bytes_to_move / found.total_bytes) * for_ns / 1e9


def loss(state: LiveState) -> float:
    """Share of the time that a program with only remote pages loses."""
    seen = state.outcome or state.sample
    if seen is None or FAR_READS not in seen.values:
        return ASSUMED_LOSS
    return min(1.0, seen.values[FAR_READS] * REMOTE_READ_NS / 1e9)


def _found_text(found: LeftBehind, topology: Topology) -> str:
    total = f"{found.total_bytes / _MIB:.1f} MiB"
    numbers = topology.node_os_indices
    if found.one_node is not None:
        return (
            f"nearly all of its memory ({total}) is on node {numbers[found.one_node]}, and threads "
            "on several nodes use it: `numactl --interleave=all`, or data that each thread touches "
            "first, spreads the load; no page is moved"
        )
    line = f"left behind is {found.share:.0%} of its memory ({total})"
    where = ", ".join(
        f"{size / _MIB:.1f} MiB on node {numbers[node]}" for node, size in found.bytes_left.items()
    )
    return line + (f": {where}" if where else "")
