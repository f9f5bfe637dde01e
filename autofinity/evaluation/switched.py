"""A policy within a run, by look-up: switched runs have been profiled.

The procedure is that of `in_run`, without a machine: one sample period after a warm-up period, in
the spread affinity and, for a second look, in the probed affinity. The time is that of the
profiled run with the same switches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.times import Times
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.observation import PlacedBy, Workload
from autofinity.model.policy import RulePolicy
from autofinity.policy.selector import decide
from autofinity.profiling.placements import PROBE, SWITCH_AFTER
from autofinity.store.observation_table import ObservationTable


class SwitchedRuns:
    """Seconds of a workload under a policy that decides during the run; NaN without such a run."""

    def __init__(self, table: ObservationTable, times: Times, match: BestMatches) -> None:
        self._table = table
        self._times = times
        self._match = match

    def __call__(self, workload: Workload, policy: RulePolicy) -> float:
        """Sample, switch, and where the policy takes a second look, sample and switch again.

        A trial is left out: no profiled run switches that often.
        """
        if workload not in self._times.roi_s:
            return math.nan
        threads = self._times.placed(workload)

        def affinity_of(hint: Hint) -> Affinity:
            return self._match(threads, hint)

        def last_of(hint: Hint) -> Affinity:
            return affinity_of(policy.at(hint, threads, self._match.cores))

        start = affinity_of(SPREAD)
        seen = self._period(workload, "affinity", start, SWITCH_AFTER - 1)
        if seen is None:  # the run ended before it was sampled, or was not profiled
            return self._times.roi_s[workload].get(start, math.nan)
        hint = decide(policy, seen).hint
        second = policy.second_after(hint)
        probe = start if second is None else affinity_of(second.sampled_in)
        if second is None or probe == start:
            last = last_of(hint)
            runs = self._times.roi_s if last == start else self._times.switched
            return runs.get(workload, {}).get(last, math.nan)
        probed = self._period(workload, "switched", probe, 2 * SWITCH_AFTER - 1)
        switched_s = self._times.switched.get(workload, {}).get(probe, math.nan)
        if probed is None:
            return switched_s
        last = last_of(decide(second.policy, second.values(seen, probed)).hint)
        if last == probe:
            return switched_s
        if probe != affinity_of(PROBE):
            return math.nan
        return self._times.probed.get(workload, {}).get(last, math.nan)

    def _period(
        self, workload: Workload, placement: PlacedBy, affinity: Affinity, number: int
    ) -> Mapping[str, float] | None:
        """Counters of one sample period of a run; None where it has no such period."""
        table = self._table
        runs = table.rows_of(
            workload.program, workload.input, workload.threads, placement, affinity
        )
        rows = runs[table.sample[runs] == number]
        if not len(rows):
            return None
        row = rows[np.argmin(table.seed[rows])]
        return {name: float(values[row]) for name, values in table.counters.items()}
