"""Hints of affinities on a machine, for the action table (figure 6, AFFINITYHINTFROMCONF)."""

from __future__ import annotations

import functools

from autofinity.affinity.hints import all_hints
from autofinity.affinity.leeway import hints_within
from autofinity.learning.action_table import HintsOf
from autofinity.model.affinity import Affinity, Hint
from autofinity.model.topology import Topology


def hints_on(topology: Topology, leeway: int) -> HintsOf:
    """`affinity.leeway.hints_of` for any thread count, with best matches worked out once each."""

    @functools.cache
    def best_matches(threads: int) -> tuple[Affinity, ...]:
        return tuple(cores.affinity for cores in all_hints(topology, threads))

    @functools.cache
    def hints(affinity: Affinity) -> tuple[Hint, ...]:
        return hints_within(affinity, best_matches(affinity.threads), leeway)

    return hints
