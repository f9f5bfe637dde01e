"""The second look with the program's pages, where they are too many to come along at once.

It takes the part of `pages_along` that asks: whether near pages would turn the policy's answer
round, or are the answer's anyway and a trial of one more hint is to see them near, and whether they
pay for their move in the rest of a minute. The pages are moved by an observer of the loop
(`pages_follow`), and seen in the program's memory by node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autofinity.model.affinity import Affinity
from autofinity.model.memory import MemoryByNode
from autofinity.model.topology import Topology
from autofinity.runtime.answer import Answer
from autofinity.runtime.asking import Asking
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.looking import LASTS_NS
from autofinity.runtime.looks import Look, mean_of
from autofinity.runtime.meaning import Meaning
from autofinity.runtime.page_rate import PageRate
from autofinity.runtime.pages_along import NO_PAGES, FarPages, PagesAlong, faster

_LEAST_BYTES = 4 << 20
"""Bytes in a turn, a batch of pages, below which hardly any come."""
_GIB = 1 << 30


class NearLook:
    """Asks for pages during a second look."""

    def __init__(
        self,
        topology: Topology,
        asking: Asking,
        memory: Callable[[], MemoryByNode | None],
        meaning: Meaning,
        rate: PageRate,
    ) -> None:
        """`memory` looks where the program's memory is; `rate`: that of page moves."""
        self._rate = rate
        self._topology = topology
        self._asking = asking
        self._memory = memory
        self._meaning = meaning

    def may_matter(self, state: LiveState, answer: Answer, *, trial: bool) -> bool:
        """Whether near pages might turn the answer of both looks round or, where it stands anyway
        and a `trial` of one more hint follows, that trial.
        """
        there = state.placed.affinity if state.sampling.again else state.samples.probe_in
        if self._topology.n_nodes < 2 or state.along.tried or there is None:
            return False
        if not self._asking.shows_speed:
            return False
        if self._meaning.leads_to(state, answer.decision) == there and not trial:
            return False
        if not self._time_left(state) or len(state.placed.seats) < len(state.placed.threads):
            return False
        memory = self._memory()
        if memory is None:
            return False
        nodes = self._nodes(state) if state.sampling.again else [memory.fullest]
        far = FarPages.of(self._topology, memory, nodes)
        if far.far_bytes <= self._rate.few_bytes:
            return False
        most = far.most_gain(mean_of(state.sampling.probes))
        return self._turned(state, there, answer, far, most, most) is not None

    def begin(self, state: LiveState, answer: Answer) -> LiveState:
        """Ask for a part of the pages; threads are where the second look was."""
        far = self._far(self._memory(), state)
        if far.far_bytes <= self._rate.few_bytes:
            return replace(state, along=replace(state.along, tried=True))
        return replace(state, along=PagesAlong.part(answer, state.sampling.probes, far))

    def look(self, state: LiveState, look: Look) -> LiveState:
        """One more look with the part of the pages near: ask for all, or for no more, or wait.

        The first look never counts: pages moved during that, and caches still fill.
        """
        along = state.along
        if not along.came_bytes:
            far = self._far(self._memory(), state)
            return replace(state, along=along.came(far, self._rate))
        along = along.saw(look)
        gain, left, remote = along.gain, along.left, along.answer
        assert remote is not None  # as asked for with it
        there = state.placed.affinity
        turned = gain and self._turned(state, there, remote, left, gain.least, gain.likely)
        if turned:
            state = state.noting(_all_text(along))
            return replace(state, along=along.all_after(turned))
        hopeless = gain and not self._turned(state, there, remote, left, gain.most, gain.most)
        over = along.late or hopeless or not self._time_left(state)
        return replace(state, along=along.over() if over else along)

    def come(self, state: LiveState) -> LiveState:
        """One more turn in which all pages move: wait until hardly more of them come."""
        memory, along = self._memory(), state.along
        far = self._far(memory, state)
        if 0 < far.far_bytes <= along.far.far_bytes - _LEAST_BYTES:
            return replace(state, along=replace(along, far=far))
        return replace(state, along=along.over(along.answer), memory=memory)

    def _time_left(self, state: LiveState) -> bool:
        """Whether looks may still cost something."""
        return state.costs.sample_left_ns(state.waited_ns) > 0

    def _nodes(self, state: LiveState) -> list[int]:
        pus = self._topology.by_os_index
        return [pus[cpu].node for cpu in state.placed.seats]

    def _far(self, memory: MemoryByNode | None, state: LiveState) -> FarPages:
        """Pages that are far from the seats; none where memory was not seen."""
        if memory is None:
            return NO_PAGES
        return FarPages.of(self._topology, memory, self._nodes(state))

    def _turned(
        self,
        state: LiveState,
        there: Affinity | None,
        remote: Answer,
        far: FarPages,
        least: float,
        likely: float,
    ) -> Answer | None:
        """The answer if threads were faster by `least` in the affinity `there` of the second look.

        None where they would not stay, or where they would not make up for the move of the pages in
        the rest of a minute if they were faster by `likely`: else they would be where they were
        faster in both looks of `remote`, the answer with remote pages.
        """
        answer, usual = (self._answer(state, gain) for gain in (least, likely))
        if self._meaning.leads_to(state, answer.decision) != there:
            return None
        assert usual.probe is not None and remote.probe is not None
        rest_ns = LASTS_NS - state.waited_ns
        without = max(remote.start["instructions"], remote.probe["instructions"])
        left_ns = rest_ns - self._rate.time_ns(far.far_bytes)
        pays = left_ns > 0 and left_ns * usual.probe["instructions"] > rest_ns * without
        return answer if pays else None

    def _answer(self, state: LiveState, gain: float) -> Answer:
        """The answer if the second look had been faster by `gain`."""
        probes = [faster(look, gain) for look in state.sampling.probes]
        return self._asking.second(state.sampling.starts, probes, state.cores)


def _all_text(along: PagesAlong) -> str:
    far_bytes = along.far.far_bytes
    return (
        f"{far_bytes / _GIB:.1f} GiB of its memory is on other nodes in the second look: "
        f"{along.came_bytes / far_bytes:.0%} of it moved there, and threads were so much faster "
        "that all of it follows"
    )
