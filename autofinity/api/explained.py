"""Explanation of a policy's answer for one sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy

if TYPE_CHECKING:
    import pandas as pd

    from autofinity.policy.explain import Explanation as Why


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """A decision, and its margins. Notebooks show both; `str` gives the explanation in
    sentences.

    * `policy`, `why`: internal types, which may change.
    """

    policy: RulePolicy
    why: Why

    @property
    def hint(self) -> Hint:
        """The hint that was decided."""
        return self.why.decision.hint

    @property
    def rule(self) -> int | None:
        """Index of the rule that decided, from 0; None for the default."""
        return self.why.decision.rule

    @property
    def margin(self) -> float:
        """The smallest relative change of one value alone that would change the hint, 0…; infinite
        where no value alone can.
        """
        return self.why.decision.margin

    @property
    def runner_up(self) -> Hint | None:
        """The hint that the nearest change (of several values if need be) would give; None: no
        other hint.
        """
        return self.why.decision.runner_up

    @property
    def values(self) -> Mapping[str, float]:
        """Values of the policy's inputs; NaN where nothing was measured."""
        return self.why.values

    @property
    def missing(self) -> tuple[str, ...]:
        """Counters of the policy that the sample lacks."""
        return self.why.missing

    @property
    def margins(self) -> pd.DataFrame:
        """Table of the smallest change of each value that alone could change the hint.

        One row for each value, the smallest change first: `counter`, `value`, the `edge` to cross,
        `upwards`, the `relative` distance, and the `hint` in letters and its `name` on the other
        side.
        """
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "counter": change.counter,
                    "value": change.value,
                    "edge": change.edge,
                    "upwards": change.upwards,
                    "relative": change.relative,
                    "hint": str(change.hint),
                    "name": change.hint.name,
                }
                for change in self.why.margins
            ],
            columns=["counter", "value", "edge", "upwards", "relative", "hint", "name"],
        )

    def __repr__(self) -> str:
        by = "the default" if self.rule is None else f"rule {self.rule + 1}"
        return f"Explanation({self.hint.shown} by {by})"

    def __str__(self) -> str:
        from autofinity.policy.explain import explanation_text

        return explanation_text(self.policy, self.why)

    def _repr_html_(self) -> str:
        from autofinity.api.html import lines_html, table_html
        from autofinity.policy.readable import number, percent

        lines = [
            line for line in str(self).splitlines() if not line.endswith(" would change the hint:")
        ]
        margins = [
            (
                change.counter,
                number(change.value),
                f"{'>' if change.upwards else '<='} {number(change.edge)}",
                percent(change.relative),
                change.hint.shown,
            )
            for change in self.why.margins
        ]
        if not margins:
            return lines_html(lines)
        lines = [line for line in lines if "→" not in line]
        headings = ("one value alone", "measured", "would have to be", "away", "then")
        return lines_html(lines) + table_html(headings, margins)
