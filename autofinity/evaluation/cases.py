"""One case of the evaluation: a program that the policy has not seen, at one thread count.

Paper, section 3.6: sample in the fixed starting affinity, then run again in the chosen affinity. A
case is *interesting* when packed and spread differ by at least a fifth of the faster one; it
is a *win* when the choice is within 1 % of the better of the two.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autofinity.evaluation.times import Times, geometric_mean
from autofinity.model.affinity import HINTS, PACKED, SPREAD, Affinity, Hint
from autofinity.model.observation import Workload
from autofinity.model.policy import Decision

INTERESTING = 0.20
WITHIN = 0.01


RATIOS = ("oracle", "best_hint", "packed", "spread", "os", "compact", "random")
"""Columns that a choice is compared with."""


@dataclass(frozen=True, slots=True)
class Case:
    """The policy's choice for one workload, and the time of every alternative."""

    workload: Workload
    decision: Decision
    affinities: Mapping[str, Affinity]
    """Affinity behind each column of `roi_s` that has one."""
    roi_s: Mapping[str, float]
    """Seconds by column. packed, spread, best_hint, oracle. os, compact and random, where
    profiled. autofinity: restarted in the affinity chosen after a whole run. one_period: likewise,
    but chosen after one sample period. in_run: sampled and switched while it ran, where that is
    known."""
    energy_j: Mapping[str, float] = field(default_factory=dict)
    """Joules by column, without in_run; empty where energy was not measured. Best hint and oracle
    are those with the least energy."""
    one_period: Hint | None = None
    """The choice after one sample period."""

    @property
    def interesting(self) -> bool:
        """(max − min)/min of packed and spread is at least 0.20."""
        a, b = self.roi_s["packed"], self.roi_s["spread"]
        return (max(a, b) - min(a, b)) / min(a, b) >= INTERESTING

    @property
    def win(self) -> bool:
        """The choice is within 1 % of the better of packed and spread."""
        better = min(self.roi_s["packed"], self.roi_s["spread"])
        return self.roi_s["autofinity"] <= better * (1 + WITHIN)

    @property
    def right_hint(self) -> bool:
        """The choice is within 1 % of the best of the eight hints (several hints may be right)."""
        return self.roi_s["autofinity"] <= self.roi_s["best_hint"] * (1 + WITHIN)

    @property
    def regret(self) -> float:
        """Share of time lost against the best hint, 0 at best."""
        return self.roi_s["autofinity"] / self.roi_s["best_hint"] - 1

    def against(self, column: str) -> float:
        """T_column / T_ours: `oracle_ratio` when `column` is `oracle`; 1 is parity, NaN unknown."""
        return self.roi_s.get(column, math.nan) / self.roi_s["autofinity"]

    def by(self, column: str) -> Case:
        """The same case, with the time of another column in place of the policy's."""
        return replace(self, roi_s={**self.roi_s, "autofinity": self.roi_s[column]})

    def in_energy(self) -> Case:
        """The same case, with joules in place of seconds."""
        return replace(self, roi_s=self.energy_j)


def inputs_to_name(cases: Sequence[Case]) -> list[str]:
    """Input of each case behind a space, where its program was judged with several; else empty."""
    known = {(case.workload.program, case.workload.input) for case in cases}
    several = Counter(program for program, _ in known)
    return [
        f" {case.workload.input}" if several[case.workload.program] > 1 else "" for case in cases
    ]


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures that the paper gives for its figure 12, over all cases.

    Ratios are geometric means of T_column / T_ours: above 1 means faster than the column, NaN where
    the column was not profiled.
    """

    cases: int
    interesting: int
    prefer_packed: int
    """Number of interesting cases that prefer packed; all other interesting cases prefer
    spread."""
    wins: int
    """Number of wins among the interesting cases."""
    hint_accuracy: float
    ratios: Mapping[str, float]
    """Geometric mean for each column of `RATIOS`."""
    regret_median: float
    regret_max: float
    worst_vs_os: float
    """min(T_os / T_ours) − 1: −0.01 means, in the worst case, one percent slower than the operating
    system."""

    @property
    def oracle_ratio(self) -> float:
        """T_oracle / T_ours."""
        return self.ratios["oracle"]

    @property
    def best_hint_ratio(self) -> float:
        """T_best_hint / T_ours."""
        return self.ratios["best_hint"]


def case_of(
    workload: Workload,
    times: Times,
    match: Callable[[Hint], Affinity],
    decision: Decision,
    *,
    one_period: Hint | None = None,
    in_run_s: float = math.nan,
    energy: Times | None = None,
) -> Case:
    """Compare the times of a decision with those of its alternatives.

    `match(hint)` is GETAFFINITY's class for the workload's thread count on the judged machine.
    Raises `LearningError` when a hint was not profiled.
    """
    chosen = {"autofinity": match(decision.hint)}
    if one_period is not None:
        chosen["one_period"] = match(one_period)
    roi_s, affinities = _columns(workload, times, match, chosen)
    if not math.isnan(in_run_s):
        roi_s["in_run"] = in_run_s
    energy_j: dict[str, float] = {}
    if energy is not None and workload in energy.roi_s:
        energy_j, _ = _columns(workload, energy, match, chosen)
    return Case(workload, decision, affinities, roi_s, energy_j, one_period)


def _columns(
    workload: Workload,
    times: Times,
    match: Callable[[Hint], Affinity],
    chosen: Mapping[str, Affinity],
) -> tuple[dict[str, float], dict[str, Affinity]]:
    best = min((match(hint) for hint in HINTS), key=lambda affinity: times.of(workload, affinity))
    oracle, _ = times.oracle(workload)
    affinities = {
        "packed": match(PACKED),
        "spread": match(SPREAD),
        **chosen,
        "best_hint": best,
        "oracle": oracle,
    }
    values = {name: times.of(workload, affinity) for name, affinity in affinities.items()}
    return {**values, **times.baselines.get(workload, {})}, affinities


def summarise(cases: Sequence[Case]) -> Summary:
    """Ratios over all cases; wins over the interesting cases. NaN without cases."""
    interesting = [case for case in cases if case.interesting]
    regrets = [case.regret for case in cases]
    right = [case.right_hint for case in cases]
    known = {
        column: [case.against(column) for case in cases if column in case.roi_s]
        for column in RATIOS
    }
    return Summary(
        cases=len(cases),
        interesting=len(interesting),
        prefer_packed=sum(c.roi_s["packed"] < c.roi_s["spread"] for c in interesting),
        wins=sum(case.win for case in interesting),
        hint_accuracy=sum(right) / len(right) if right else math.nan,
        ratios={column: geometric_mean(values) for column, values in known.items()},
        regret_median=statistics.median(regrets) if regrets else math.nan,
        regret_max=max(regrets, default=math.nan),
        worst_vs_os=min(known["os"], default=math.nan) - 1,
    )
