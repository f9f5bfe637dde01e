"""Explanation of a policy's answer for the samples of its looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autofinity.model.affinity import Hint

if TYPE_CHECKING:
    import pandas as pd

    from autofinity.policy.answers import Given, Steps
    from autofinity.policy.explain_steps import ExplainedStep
    from autofinity.policy.possible import OpenStep


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """A decision, and its margins. Notebooks show both; `str` gives the explanation in
    sentences.

    A policy may ask for up to three samples: `steps` are the questions that the given samples
    answer. Other properties are those of the last of them, which decided.

    * `hint`: the policy's answer, in its meaning for the number of threads (`Policy.on`); where
      `decided` is false, nothing but the absence of counters leads to it.
    * `awaits`: the placement of the sample that the policy asks for next; None: of no other.
    * `given`, `found`, `explained`: internal types, which may change.

    >>> start = dict(instructions=2e9, llc_requests=1e8, cache_to_cache_transfers_other_llc=1e5)
    >>> why = af.load_policy("any-machine").explain(start, second=start | {"instructions": 1e9})
    >>> why.hint.name, why.final, round(why.margin, 2)
    ('spread', False, 0.98)
    >>> why.steps.step.to_list(), why.values["speed_gain"]
    (['first look', 'second look'], 0.5)
    >>> why.runner_up.name, why.missing
    ('packed', ())
    >>> unsure = af.load_policy("any-machine").explain({"instructions": 2e9})
    >>> unsure.decided, unsure.depends_on
    (False, ('cache_to_cache_transfers_other_llc', 'llc_requests'))
    """

    hint: Hint
    awaits: Hint | None
    given: Given
    found: Steps
    explained: tuple[ExplainedStep, ...]

    @property
    def final(self) -> bool:
        """Whether the policy would ask for no other sample, and no sample lacks the speed that the
        policy compares.
        """
        return self.found.final

    @property
    def decided(self) -> bool:
        """Whether the hint is the same whatever the counters are that the samples lack."""
        return self._undecided is None

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Counters that the samples lack and that choose among hints; empty where it is decided."""
        return () if self._undecided is None else self._undecided.possible.lacking

    @property
    def _undecided(self) -> OpenStep | None:
        """The step that what was not measured leaves open, if there is one."""
        from autofinity.policy.possible import open_step

        return open_step(self.found)

    @property
    def steps(self) -> pd.DataFrame:
        """Table of the questions in order, one row each.

        Columns: `step` (`first look`, `second look`, `trial`), `sampled_in` (name of the hint whose
        placement the sample is of), `rule` (its index from 0; -1: the default), the `hint` in
        letters and its `name`, `margin` and `runner_up` (its name; None: no other hint).
        """
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "step": step.name,
                    "sampled_in": step.sampled_in.name,
                    "rule": -1 if step.decision.rule is None else step.decision.rule,
                    "hint": str(step.decision.hint),
                    "name": step.decision.hint.name,
                    "margin": step.decision.margin,
                    "runner_up": step.decision.runner_up and step.decision.runner_up.name,
                }
                for step in self.found.steps
            ]
        )

    @property
    def thresholds(self) -> pd.DataFrame:
        """Table of the measured values against the thresholds of all rules, one row for each
        condition, in the order in which the policy asks.

        Columns: `step`, `rule` (index from 0 within the step), `counter` (or ratio), its `value`,
        `above` and `upto` (infinite: open; the condition is above < value <= upto), whether it
        `holds`, and the `hint` in letters that the rule gives. In a trial, `speed_gain` is the
        speed in the placement on trial over that in the placement of the answer before.
        """
        import pandas as pd

        from autofinity.policy.explain_steps import thresholds

        rows = thresholds(self.found)
        columns = ["step", "rule", "counter", "value", "above", "upto", "holds", "hint"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def rule(self) -> int | None:
        """Index of the rule that decided, from 0; None for the default."""
        return self._last.why.decision.rule

    @property
    def margin(self) -> float:
        """The smallest relative change of one value alone that would change the hint, 0…; infinite
        where no value alone can.
        """
        return self._last.why.decision.margin

    @property
    def runner_up(self) -> Hint | None:
        """The hint that the nearest change (of several values if need be) would give; None: no
        other hint.
        """
        return self._last.why.decision.runner_up

    @property
    def values(self) -> Mapping[str, float]:
        """Values of the inputs of the rules; NaN where nothing was measured. Names that begin with
        `start.` are of the sample before.
        """
        return self._last.why.values

    @property
    def missing(self) -> tuple[str, ...]:
        """Counters of the policy that the sample lacks, or has no value of."""
        return self._last.why.missing

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
                for change in self._last.why.margins
            ],
            columns=["counter", "value", "edge", "upwards", "relative", "hint", "name"],
        )

    @property
    def _last(self) -> ExplainedStep:
        """The step that decided."""
        return self.explained[-1]

    def __repr__(self) -> str:
        by = "the default" if self.rule is None else f"rule {self.rule + 1}"
        step = self._last.step.name
        of = "" if step == "first look" else f" of the {step}"
        wish = f"; awaits a sample in {self.awaits.shown}" if self.awaits else ""
        return f"Explanation({self.hint.shown} by {by}{of}{wish})"

    def __str__(self) -> str:
        from autofinity.policy.explain_steps import answer_first, first_lines, later_lines

        first = self.explained[0]
        later = later_lines(self.given.policy, self.found, self.explained, "`{}=`".format)
        said = first_lines(first.step.asked, first.why, alone=not later)
        return "".join(f"{x}\n" for x in (*answer_first(self.found, self.hint), *said, *later))

    def _repr_html_(self) -> str:
        from autofinity.api.html import lines_html, table_html
        from autofinity.policy.readable import number, percent

        lines = str(self).splitlines()
        margins = [
            (
                change.counter,
                number(change.value),
                f"{'>' if change.upwards else '<='} {number(change.edge)}",
                percent(change.relative),
                change.hint.shown,
            )
            for change in self._last.why.margins
        ]
        if not margins:
            return lines_html(lines)
        if len(self.explained) == 1:
            said = (line for line in lines if not line.strip().startswith("one value alone"))
            lines = [line for line in said if "→" not in line]
        headings = ("one value alone", "measured", "would have to be", "away", "then")
        return lines_html(lines) + table_html(headings, margins)
