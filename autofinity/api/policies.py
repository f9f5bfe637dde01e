"""Policies: rules that a person can read, from behaviour to a hint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.explained import Explanation
from autofinity.api.machines import Machine, name_of
from autofinity.foreign_text import one_line
from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Policy:
    """An ordered list of rules, of which the first that holds decides, and a default.

    Notebooks show the rules as a table; `str` gives the output of `autofinity show`.

    * `inside`: internal type, which may change.
    * `notes`: notes on the learning, a sentence each, where the policy was learned here.
    """

    inside: RulePolicy
    notes: tuple[str, ...] = ()

    @property
    def counters(self) -> tuple[str, ...]:
        """Counters that the policy uses: counts per thread and second."""
        return self.inside.counters

    @property
    def facts(self) -> tuple[str, ...]:
        """Facts of the machine that the policy needs; `on` puts them in."""
        return self.inside.facts

    @property
    def default(self) -> Hint:
        """The answer where no rule holds."""
        return self.inside.default

    @property
    def made_of(self) -> Mapping[str, object]:
        """Provenance: machine, suite, thread counts, settings, version."""
        return self.inside.provenance

    @property
    def rules(self) -> pd.DataFrame:
        """Table of the rules in order, one row each, without the default.

        Columns: `condition` in words, `hint` in letters, `name`, and `covered` and `wrong`: the
        weight of the training cases that the rule decides, and of those with another best hint.
        """
        import pandas as pd

        from autofinity.policy.readable import condition_text

        return pd.DataFrame(
            [
                {
                    "condition": " and ".join(map(condition_text, rule.conditions)) or "always",
                    "hint": str(rule.hint),
                    "name": rule.hint.name,
                    "covered": rule.covered,
                    "wrong": rule.wrong,
                }
                for rule in self.inside.rules
            ],
            columns=["condition", "hint", "name", "covered", "wrong"],
        )

    def decide(self, sample: Mapping[str, float]) -> Hint:
        """The hint for a sample.

        The sample has counts per thread and second by counter. A counter that was not measured is
        NaN or left out; no condition on it holds.
        """
        from autofinity.policy.selector import decide

        return decide(self.inside, sample).hint

    def explain(self, sample: Mapping[str, float]) -> Explanation:
        """The hint for a sample (as for `decide`), the reason, and the distance to another hint."""
        from autofinity.policy.explain import explain

        return Explanation(self.inside, explain(self.inside, sample))

    def on(self, machine: Machine | str, threads: int) -> Policy:
        """The policy for `threads` threads on a machine, with the machine's facts put in (`facts`).

        Raises `AutofinityError` for an unknown machine.
        """
        from autofinity.policy.on_machine import on_machine
        from autofinity.workflow.machine_facts import facts_on

        return Policy(on_machine(self.inside, facts_on(name_of(machine))(threads)), self.notes)

    def save(self, path: Path | str) -> None:
        """Write the file that `load_policy` and `autofinity run --policy` read.

        Raises `AutofinityError` where it cannot be written.
        """
        from autofinity.policy.files import save

        save(self.inside, path)

    def export(self, form: str) -> str:
        """The text of a file in another form: `c`, `python`, `sql`, `markdown`, `text`, `json`.

        Raises `AutofinityError` for another form, and for a policy that needs facts of a machine
        where the form has no place for facts: export the result of `on` instead.
        """
        from autofinity.policy.export import exported

        return exported(self.inside, form)

    def __repr__(self) -> str:
        counters = ", ".join(map(one_line, self.counters)) or "no counters"
        rules = len(self.inside.rules)
        return f"Policy({rules} rules over {counters}; else {self.default.shown})"

    def __str__(self) -> str:
        from autofinity.policy.readable import policy_text

        return policy_text(self.inside)

    def _repr_html_(self) -> str:
        from autofinity.api.html import lines_html, table_html
        from autofinity.policy.readable import (
            condition_text,
            number,
            ratio_text,
            second_text,
            trial_text,
        )
        from autofinity.policy.sentences import sentence

        policy = self.inside
        rows = [
            (
                str(index + 1),
                " and ".join(map(condition_text, rule.conditions)) or "always",
                sentence(rule) or "",
                rule.hint.shown,
                f"{number(rule.covered)}, {number(rule.wrong)}",
            )
            for index, rule in enumerate(policy.rules)
        ]
        rows.append(("else", "", "", policy.default.shown, ""))
        said = lines_html(map(ratio_text, policy.ratios)) if policy.ratios else ""
        said += table_html(("", "if", "in words", "hint", "weight, of it wrong"), rows)
        if policy.second is not None:
            again = Policy(policy.second.policy)._repr_html_()
            said += lines_html([f"{second_text(policy.second)}:"]) + again
        if policy.trial is not None:
            said += lines_html([trial_text(policy.trial)])
        return said + (lines_html(self.notes) if self.notes else "")


def policies() -> tuple[str, ...]:
    """Names of the shipped policies, sorted."""
    from autofinity.policy.shipped import policy_names

    return tuple(sorted(policy_names()))


def load_policy(name: Path | str) -> Policy:
    """The policy in a file, or the shipped policy of this name. Raises `AutofinityError`."""
    from autofinity.workflow.policies import named_policy

    return Policy(named_policy(name))


def as_policy(policy: Policy | Path | str) -> Policy:
    """The given policy, or the one of this name or in this file."""
    return policy if isinstance(policy, Policy) else load_policy(policy)


def file_of(policy: Policy | Path | str, folder: Path) -> str:
    """Name or path of a policy, for functions that take these; a `Policy` is written into
    `folder`.
    """
    if not isinstance(policy, Policy):
        return str(policy)
    path = folder / "policy.json"
    policy.save(path)
    return str(path)
