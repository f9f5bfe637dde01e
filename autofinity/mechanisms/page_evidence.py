"""Evidence of sampled faults on pages since the threads last moved, and how many pages may follow.

Pages move on a budget: the cost of moving them never exceeds the cost of remote reads so far. So
where data stay in the caches no page moves, and where they do not, the wrong decision costs at most
as much again as having done nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from autofinity.mapping.pages import LEAST_LOCAL, locality_or_relief, moves
from autofinity.model.memory import PAGE_MOVE_NS, REMOTE_READ_NS
from autofinity.model.sharing import NumaVectors
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Interval

FADING = 0.95
"""Share of older samples that is left at each look."""
ALL_PAGES = 1 << 52
"""More than there are: a run in a simulator ends soon."""


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """Faults by page and node."""

    vectors: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Page → the vector it had when it was last seen; empty when all vectors begin again."""
    restarts: int = 0
    """How often they have."""
    since: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Page → faults since the threads last moved: those before came from other nodes."""
    nodes: Mapping[int, int] = field(default_factory=dict)
    """Page → node it was last seen on."""
    sampled: float = 0.0
    """Faults, old ones fading."""
    budget: float = 0.0
    """Pages that may be moved."""

    def seeing(
        self, interval: Interval, fading: float = FADING, most: int = ALL_PAGES
    ) -> PageEvidence:
        """With what an interval showed; `fading` is what is left of older `sampled`, and `most` how
        many pages are remembered, those seen last.
        """
        reads = sum(sample.counted("dram_reads_remote") for sample in interval.samples)
        budget = self.budget + reads * REMOTE_READ_NS / PAGE_MOVE_NS
        if interval.pages is None:
            return replace(self, budget=budget)
        known = self.vectors if interval.pages.restarts == self.restarts else {}
        since, sampled = _others(self.since, interval.pages.pages), 0
        for page, now in interval.pages.pages.items():
            nothing = (0,) * len(now)
            before = known.get(page, nothing)
            # Counters that are full, or were halved, show nothing new.
            new = tuple(max(0, n - b) for n, b in zip(now, before, strict=True))
            since[page] = tuple(map(sum, zip(self.since.get(page, nothing), new, strict=True)))
            sampled += sum(new)
        vectors, nodes = interval.pages.pages, interval.pages.nodes
        return replace(
            self,
            vectors=_last(most, {**_others(known, vectors), **vectors}),
            restarts=interval.pages.restarts,
            since=_last(most, since),
            nodes=_last(most, {**_others(self.nodes, nodes), **nodes}),
            sampled=fading * self.sampled + sampled,
            budget=budget,
        )

    def affordable(self, pages: NumaVectors) -> tuple[PageEvidence, tuple[tuple[int, int], ...]]:
        """(page, node) of the moves that pay, those with most faults first, as far as the budget
        goes; and what is left of it.
        """
        if self.budget < 1:  # as long as data stay in the caches
            return self, ()
        known = {page: self.since[page] for page in pages.pages if page in self.since}
        fresh = replace(pages, pages=known)
        everywhere = NumaVectors(self.since, nodes=self.nodes, homes=pages.homes)
        wanted = moves(fresh, locality_or_relief(everywhere))
        chosen = sorted(wanted, key=lambda move: -sum(self.since[move[0]]))[: int(self.budget)]
        return replace(self, budget=self.budget - len(chosen)), tuple(chosen)

    def left_behind(
        self, topology: Topology, now: Sequence[OsIndex], then: Sequence[OsIndex]
    ) -> float:
        """Share of the faults that were on private pages of the own node, and would not be any more
        if threads went from the PUs `now` to `then`.
        """
        before, after = ([topology.by_os_index[cpu].node for cpu in each] for each in (now, then))
        leaving = [0.0] * topology.n_nodes
        for node in set(before):
            threads = [thread for thread, at in enumerate(before) if at == node]
            leaving[node] = sum(after[thread] != node for thread in threads) / len(threads)
        faults = lost = 0.0
        for page, vector in self.since.items():
            node = self.nodes.get(page, 0)
            faults += sum(vector)
            if vector[node] > LEAST_LOCAL * sum(vector):
                lost += vector[node] * leaving[node]
        return lost / faults if faults else 0.0


def _others[Value](known: Mapping[int, Value], seen: Mapping[int, object]) -> dict[int, Value]:
    """Known values of pages that were not seen now: pages that were seen go to the end."""
    return {page: value for page, value in known.items() if page not in seen}


def _last[Value](most: int, known: dict[int, Value]) -> dict[int, Value]:
    if len(known) <= most:
        return known
    return dict(islice(known.items(), len(known) - most, None))
