"""One case of the evaluation: a program the policy has not seen, at one thread count.

Paper, section 3.6: sample in the fixed starting affinity, then run again in the chosen one. A case
is *interesting* when packed and distributed differ by at least a fifth of the faster one; it is a
*win* when the choice is within 1 % of the better of the two.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autofinity.evaluation.times import Subject, Times, geometric_mean
from autofinity.model.affinity import DISTRIBUTED, HINTS, PACKED, Affinity, Hint
from autofinity.model.policy import Decision

INTERESTING = 0.20
WITHIN = 0.01


@dataclass(frozen=True, slots=True)
class Case:
    """What the policy chose for one subject, and what every alternative would have cost."""

    subject: Subject
    decision: Decision
    affinities: Mapping[str, Affinity]
    """Affinity behind each column of `roi_s`."""
    roi_s: Mapping[str, float]
    """Seconds: packed, distributed, autofinity, best_hint, oracle."""

    @property
    def interesting(self) -> bool:
        """(max − min)/min of packed and distributed ≥ 0.20."""
        a, b = self.roi_s["packed"], self.roi_s["distributed"]
        return (max(a, b) - min(a, b)) / min(a, b) >= INTERESTING

    @property
    def win(self) -> bool:
        """Within 1 % of the better of packed and distributed."""
        better = min(self.roi_s["packed"], self.roi_s["distributed"])
        return self.roi_s["autofinity"] <= better * (1 + WITHIN)

    @property
    def right_hint(self) -> bool:
        """Within 1 % of the best of the eight hints (several hints may be right)."""
        return self.roi_s["autofinity"] <= self.roi_s["best_hint"] * (1 + WITHIN)

    @property
    def regret(self) -> float:
        """Share of time lost against the best hint, 0 at best."""
        return self.roi_s["autofinity"] / self.roi_s["best_hint"] - 1

    def against(self, column: str) -> float:
        """T_column / T_ours: `oracle_ratio` when `column` is `oracle`; 1 is parity."""
        return self.roi_s[column] / self.roi_s["autofinity"]


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures the paper gives of its figure 12, over all cases."""

    cases: int
    interesting: int
    wins: int
    """Among the interesting ones."""
    hint_accuracy: float
    oracle_ratio: float
    best_hint_ratio: float
    packed_ratio: float
    """T_packed / T_ours, geometric mean: above 1 is faster than packed."""
    distributed_ratio: float
    regret_median: float
    regret_max: float


def case_of(
    subject: Subject,
    times: Times,
    match: Callable[[Hint], Affinity],
    decision: Decision,
) -> Case:
    """Put the times of a decision beside those of its alternatives.

    `match(hint)` is GETAFFINITY's class for the subject's thread count on the judged machine.
    """
    best = min((match(hint) for hint in HINTS), key=lambda affinity: times.of(subject, affinity))
    oracle, oracle_s = times.oracle(subject)
    affinities = {
        "packed": match(PACKED),
        "distributed": match(DISTRIBUTED),
        "autofinity": match(decision.hint),
        "best_hint": best,
        "oracle": oracle,
    }
    roi_s = {name: times.of(subject, affinity) for name, affinity in affinities.items()}
    roi_s["oracle"] = oracle_s
    return Case(subject, decision, affinities, roi_s)


def summarise(cases: list[Case]) -> Summary:
    """Geometric means over all cases; wins over the interesting ones. NaN of nothing."""
    interesting = [case for case in cases if case.interesting]
    regrets = [case.regret for case in cases]
    right = [case.right_hint for case in cases]
    return Summary(
        cases=len(cases),
        interesting=len(interesting),
        wins=sum(case.win for case in interesting),
        hint_accuracy=sum(right) / len(right) if right else float("nan"),
        oracle_ratio=geometric_mean(case.against("oracle") for case in cases),
        best_hint_ratio=geometric_mean(case.against("best_hint") for case in cases),
        packed_ratio=geometric_mean(case.against("packed") for case in cases),
        distributed_ratio=geometric_mean(case.against("distributed") for case in cases),
        regret_median=statistics.median(regrets) if regrets else float("nan"),
        regret_max=max(regrets, default=float("nan")),
    )
