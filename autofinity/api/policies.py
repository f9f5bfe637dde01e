"""Policies: rules that a person can read, from behaviour to a hint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.explained import Explanation
from autofinity.api.machines import Machine, name_of
from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Policy:
    """An ordered list of rules, of which the first that holds decides, and a default.

    Notebooks show the rules as a table; `str` gives all that `autofinity show` prints.
    """

    inside: RulePolicy
    """A type of the inside, which may change."""
    notes: tuple[str, ...] = ()
    """How it came about, where it was learned here."""

    @property
    def counters(self) -> tuple[str, ...]:
        """What it looks at: counts per thread and second."""
        return self.inside.counters

    @property
    def facts(self) -> tuple[str, ...]:
        """What it asks of the machine, which `on` puts in."""
        return self.inside.facts

    @property
    def default(self) -> Hint:
        """The answer where no rule holds."""
        return self.inside.default

    @property
    def made_of(self) -> Mapping[str, object]:
        """Machine, suite, thread counts, settings, version."""
        return self.inside.provenance

    @property
    def rules(self) -> pd.DataFrame:
        """The rules in order, a row each, without the default: `condition` in words, `hint` in
        letters, `name`, and `covered` and `wrong`, weights of the training table.
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
        """What it says of a sample: counts per thread and second by counter, NaN or left out where
        nothing was measured; no condition on these holds.
        """
        from autofinity.policy.selector import decide

        return decide(self.inside, sample).hint

    def explain(self, sample: Mapping[str, float]) -> Explanation:
        """What it says of a sample (as for `decide`), why, and how far it was from another hint."""
        from autofinity.policy.explain import explain

        return Explanation(self.inside, explain(self.inside, sample))

    def on(self, machine: Machine | str, threads: int) -> Policy:
        """The policy for so many threads on a machine, whose facts it is given (`facts`).

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

        Raises `AutofinityError` for another one, and for a policy that asks for facts of a machine
        in a form without place for them: take that of `on`.
        """
        from autofinity.policy.export import exported

        return exported(self.inside, form)

    def __str__(self) -> str:
        from autofinity.policy.readable import policy_text

        return policy_text(self.inside)

    def _repr_html_(self) -> str:
        from autofinity.api.html import lines_html, table_html
        from autofinity.policy.readable import condition_text, number, ratio_text, second_text
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
        said += table_html(("", "if", "in words", "hint", "covered, wrong"), rows)
        if policy.second is not None:
            again = Policy(policy.second.policy)._repr_html_()
            said += lines_html([f"{second_text(policy.second)}:"]) + again
        return said


def policies() -> tuple[str, ...]:
    """Names of the policies that are shipped, sorted."""
    from autofinity.policy.shipped import policy_names

    return tuple(sorted(policy_names()))


def load_policy(name: Path | str) -> Policy:
    """The policy in a file, or the shipped one of this name. Raises `AutofinityError`."""
    from autofinity.workflow.policies import named_policy

    return Policy(named_policy(name))


def file_of(policy: Policy | Path | str, folder: Path) -> str:
    """Its name or path, for what asks a policy by that; one of ours is written into `folder`."""
    if not isinstance(policy, Policy):
        return str(policy)
    path = folder / "policy.json"
    policy.save(path)
    return str(path)
