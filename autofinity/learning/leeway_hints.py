"""Hints of affinities on a machine, for the action table (figure 6, AFFINITYHINTFROMCONF)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from autofinity.affinity.best_matches import BestMatches
from autofinity.affinity.leeway import hints_within
from autofinity.model.affinity import HINTS, Affinity, Hint

type HintsOf = Callable[[Affinity], Sequence[Hint]]
"""Hints that an affinity belongs to within the leeway."""


def hints_on(matches: BestMatches, leeway: int) -> HintsOf:
    """`affinity.leeway.hints_within` for any thread count; each affinity is computed once."""

    @functools.cache
    def hints(affinity: Affinity) -> tuple[Hint, ...]:
        best = [matches(affinity.threads, hint) for hint in HINTS]
        return hints_within(affinity, best, leeway)

    return hints
