"""An answer that stands is seldom one that more looks would have changed."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from told_looks import look

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.selector import decide
from autofinity.runtime.asking import Asking
from autofinity.runtime.looks import mean_of, scatter

RATES = st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=12)
POLICY = RulePolicy(
    ("llc_misses",),
    {"llc_misses": (1e6,)},
    (Rule((Condition("llc_misses", 1e6, float("inf")),), SPREAD),),
    PACKED,
)


@given(RATES, st.floats(1e-3, 1e3))
def test_scatter_does_not_depend_on_units(rates: list[float], factor: float) -> None:
    plain = scatter([{"x": rate} for rate in rates], ["x"])
    scaled = scatter([{"x": factor * rate} for rate in rates], ["x"])
    assert abs(plain - scaled) <= 1e-6 * max(plain, 1e-6)


@given(RATES)
def test_the_mean_of_looks_lies_among_them(rates: list[float]) -> None:
    mean = mean_of([look({"x": rate}) for rate in rates])["x"]
    assert min(rates) * (1 - 1e-9) <= mean <= max(rates) * (1 + 1e-9)


def test_repeating_until_the_margin_exceeds_the_scatter_is_right_far_more_often() -> None:
    """For 400 programs near the rule's boundary, by looks that vary by a third."""
    first, repeated, asking = 0, 0, Asking(POLICY, decide)
    for seed in range(400):
        source = random.Random(seed)
        level = source.choice([0.85, 1.15]) * 1e6
        wanted = SPREAD if level > 1e6 else PACKED
        looks = [look({"llc_misses": abs(source.gauss(level, level / 3))}) for _ in range(64)]
        first += asking.first(looks[:1], 1).decision.hint == wanted
        count = next((n for n in range(4, 64) if asking.first(looks[:n], 1).stands), 64)
        repeated += asking.first(looks[:count], 1).decision.hint == wanted
    assert first / 400 < 0.75
    assert repeated / 400 > 0.93
