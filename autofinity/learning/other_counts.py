"""Meaning of answers with thread counts that were not learned with.

The eight hints have other best matches with 24 threads than with 8, so the best hint with 8 threads
need not be the best with 24. But an affinity of 24 threads has a *likeness* among those of 8: the
same caches of the same sockets, each with the same share of the threads. {6,6}{6,6} is like
{2,2}{2,2}. The relative position of threads is the same in both. The speed, in the likenesses, of
the programs for which an answer was right shows which of the eight best matches of 24 threads would
suit them.

No other hint is given where there is no likeness: where only the best matches for the learned
thread count were profiled, or where no affinity of that count uses the same caches.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from autofinity.affinity.best_matches import BestMatches
from autofinity.affinity.leeway import edit_distance
from autofinity.learning.hint_losses import TIE, log_worth
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.policy import Instead, OtherCounts, RulePolicy
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]

FARTHEST = 4
"""Largest factor between a thread count and the learned count up to which likenesses are
trusted."""


def with_other_counts(
    policy: RulePolicy,
    table: ObservationTable,
    performance: Floats,
    losses: Floats,
    matches: BestMatches,
) -> RulePolicy:
    """`policy` with the hints that serve better than its answers with other thread counts.

    `losses` are those of whole runs (`hint_losses.hint_losses` of the same table and performance).
    An answer stands unless another hint gains more than `TIE` over the answer, in the mean over the
    programs for which the answer is right.
    """
    ran = _Ran(table, performance, losses, matches)
    instead: list[Instead] = []
    for hint in policy.last_words:
        better = {count: ran.better(hint, count) for count in ran.other_counts()}
        instead.extend(_stretches(hint, better, matches))
    if not instead:
        return policy
    return replace(policy, other_counts=OtherCounts(matches.cores, tuple(instead)))


class _Ran:
    """Speed of programs in every affinity that was profiled."""

    def __init__(
        self,
        table: ObservationTable,
        performance: Floats,
        losses: Floats,
        matches: BestMatches,
    ) -> None:
        self._worth = log_worth(table, performance)
        self._losses = losses
        self._matches = matches
        workload = table.workload()
        self._threads = np.zeros(len(self._worth), np.int64)
        self._threads[workload] = table.threads
        self._affinities = tuple(Affinity.parse(name) for name in table.affinity.names)
        self._learned = sorted(set(table.threads.tolist()))
        self._where_right = functools.cache(self._found_right)

    def other_counts(self) -> list[int]:
        """Thread counts that were not learned with and are not too far from a count that was."""
        topology = self._matches.topology
        most = sum(pu.os_index in topology.allowed for pu in topology.pus)
        near = {
            count
            for learned in self._learned
            for count in range(math.ceil(learned / FARTHEST), min(most, learned * FARTHEST) + 1)
        }
        return sorted(near - set(self._learned))

    def better(self, hint: Hint, threads: int) -> Hint:
        """The best hint for the programs for which `hint` was right; `hint` itself when equal."""
        learned = min(self._learned, key=lambda count: abs(math.log(count / threads)))
        profiled, worth = self._where_right(hint, learned)

        def of(other: Hint) -> float:
            like = alike(self._matches(threads, other), profiled)
            return float(worth[list(like)].mean()) if like else -np.inf

        values = {other: of(other) for other in HINTS}
        best = max(HINTS, key=values.__getitem__)
        known = values[hint] > -np.inf
        return best if known and values[best] - values[hint] > math.log1p(TIE) else hint

    def _found_right(self, hint: Hint, learned: int) -> tuple[tuple[Affinity, ...], Floats]:
        """Affinities of the learned count in which all programs with the right hint `hint` were
        profiled.

        The second value is the mean worth of each affinity for these programs. Programs that were
        profiled in fewer affinities than others (inputs of real size, in the best matches only) are
        left out: with them hardly an affinity has a likeness.
        """
        here = self._threads == learned
        profiled = np.sum(~np.isnan(self._worth), axis=1)
        whole = profiled == profiled[here].max(initial=0)
        right = (self._losses[:, HINTS.index(hint)] == 0) & here & whole
        if not right.any():
            return (), np.empty(0)
        worth = self._worth[right].mean(axis=0)
        known = [
            i
            for i, at in enumerate(self._affinities)
            if at.threads == learned and not np.isnan(worth[i])
        ]
        return tuple(self._affinities[i] for i in known), worth[known]


@functools.lru_cache(maxsize=4096)
def alike(affinity: Affinity, profiled: tuple[Affinity, ...]) -> tuple[int, ...]:
    """Numbers of the affinities, of another thread count, that `affinity` is most like.

    They use as many LLC domains of as many sockets, and the shares of their threads are as near as
    possible.
    """
    same = [i for i, other in enumerate(profiled) if _caches(other) == _caches(affinity)]
    if not same:
        return ()
    apart = [_apart(affinity, profiled[i]) for i in same]
    return tuple(i for i, far in zip(same, apart, strict=True) if far == min(apart))


def _caches(affinity: Affinity) -> list[int]:
    """Number of LLC domains used in each used socket."""
    return sorted(len(socket) for socket in affinity.occupancy)


def _apart(one: Affinity, other: Affinity) -> int:
    """Threads to move from one affinity to the other when both are scaled to the same thread
    count.
    """
    return edit_distance(_times(one, other.threads), _times(other, one.threads))


def _times(affinity: Affinity, factor: int) -> Affinity:
    return Affinity(
        tuple(tuple(factor * count for count in socket) for socket in affinity.occupancy)
    )


def _stretches(hint: Hint, better: dict[int, Hint], matches: BestMatches) -> list[Instead]:
    """Entries, with neighbouring thread counts combined.

    A combined entry includes the counts between them at which both hints give the same affinity.
    """
    found: list[Instead] = []
    for threads, instead in sorted(better.items()):
        if instead == hint:
            continue
        if found and found[-1].better == instead and _same(found[-1], threads, matches):
            found[-1] = replace(found[-1], most=threads)
        else:
            found.append(Instead(hint, threads, threads, instead))
    return found


def _same(entry: Instead, threads: int, matches: BestMatches) -> bool:
    """Whether the entry may extend to `threads` without a change at the counts in between."""
    return all(
        matches(count, entry.hint) == matches(count, entry.better)
        for count in range(entry.most + 1, threads)
    )
