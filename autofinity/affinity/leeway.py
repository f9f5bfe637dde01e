"""Leeway: which hints an affinity belongs to (the inverse of GETAFFINITY).

Source: Moore & Childers, CC 2013, section 2.1 and AFFINITYHINTFROMCONF of figure 6. An affinity
belongs to a hint if moving at most `leeway` threads between LLC domains makes it isomorphic to the
hint's best match; it may belong to several hints, or to none.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.errors import UsageError


def edit_distance(a: Affinity, b: Affinity) -> int:
    """Smallest number of threads to move between LLC domains until `a` is isomorphic to `b`.

    Exact: sockets are matched by an assignment problem, and domains within a pair of sockets in
    descending order of threads, which is optimal there. Both affinities are classes, on sockets and
    domains that have room for either. Raises `UsageError` when the thread counts differ.
    """
    if a.threads != b.threads:
        raise UsageError(
            f"cannot compare {a} with {b}: they place {a.threads} and {b.threads} threads, "
            "expected the same number"
        )
    from autofinity._core.affinity import edit_distance as native

    return native(a.occupancy, b.occupancy)


def hints_within(
    affinity: Affinity, best_matches: Sequence[Affinity], leeway: int
) -> tuple[Hint, ...]:
    """Hints whose best match is at most `leeway` threads away from `affinity` (section 2.2).

    `best_matches` has the best match of each hint, in `HINTS` order. Raises `UsageError` where they
    place another number of threads.
    """
    return tuple(
        hint
        for hint, best in zip(HINTS, best_matches, strict=True)
        if edit_distance(affinity, best) <= leeway
    )
