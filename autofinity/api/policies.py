"""Policies: rules that a person can read, from behaviour to a hint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from autofinity.affinity.best_matches import all_cores
from autofinity.api.arguments import count_of, path_of, text_of_path
from autofinity.api.explained import Explanation
from autofinity.api.machines import Machine, as_machine
from autofinity.foreign_text import one_line
from autofinity.model.affinity import HINTS, SPREAD, Affinity, Hint
from autofinity.model.errors import UsageError
from autofinity.model.policy import RulePolicy

if TYPE_CHECKING:
    import pandas as pd

    from autofinity.api.samples import Sample
    from autofinity.policy.answers import Given


@dataclass(frozen=True, slots=True, repr=False)
class Policy:
    """An ordered list of rules, of which the first that holds decides, and a default.

    Notebooks show the rules as a table; `str` gives the output of `autofinity show`.

    * `inside`: internal type, which may change.
    * `notes`: notes on the learning, a sentence each, where the policy was learned here.
    * `machine`, `threads`: where, and for how many threads, answers are meant (`on`); None: not
      known.
    * `places`: affinity of each hint there; empty: not known.

    >>> policy = af.load_policy("any-machine").on("opteron-6164he", 8)
    >>> start = dict(instructions=2e9, llc_requests=1e8, cache_to_cache_transfers_other_llc=1e5)
    >>> policy.decide(start, second=start | {"instructions": 1.5e9}).name
    'spread'
    >>> [hint.name for hint in policy.looks[:2]], policy.facts
    (['spread', 'few-sockets-shared-caches'], ())
    >>> policy.rules[["hint", "name"]].to_numpy().tolist()
    [['SLP', 'spread'], ['SLP', 'spread']]
    >>> policy.on("xeon-8480", 8).export("sql").split()[-1]
    'END'
    """

    inside: RulePolicy
    notes: tuple[str, ...] = ()
    machine: Machine | None = field(default=None, repr=False)
    threads: int | None = None
    places: Mapping[Hint, Affinity] = field(default_factory=dict, repr=False)

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

    @property
    def looks(self) -> tuple[Hint, ...]:
        """The placements whose samples the policy may ask for, in order: of the first look, of the
        second, and of the trial.
        """
        second, trial = self.inside.second, self.inside.trial
        again = () if second is None else (second.sampled_in,)
        tried = () if second is None or trial is None else (self._meant(trial.hint),)
        return (SPREAD, *again, *tried)

    @overload
    def decide(
        self,
        first: pd.DataFrame,
        *,
        second: pd.DataFrame | None = None,
        trial: pd.DataFrame | None = None,
    ) -> pd.Series[Any]: ...

    @overload
    def decide(
        self, first: Sample, *, second: Sample | None = None, trial: Sample | None = None
    ) -> Hint: ...

    def decide(
        self,
        first: Sample | pd.DataFrame,
        *,
        second: Sample | pd.DataFrame | None = None,
        trial: Sample | pd.DataFrame | None = None,
    ) -> Hint | pd.Series[Any]:
        """The hint for the samples of a run, or for each row of tables of samples.

        A sample has counts per thread and second by counter (`counters`). A counter that was not
        measured is NaN or None: no condition on it holds, as in an exported policy (`explain` says
        whether the hint depends on it: `decided`). A counter that is left out is refused where the
        answer depends on it; in tables, where rules ask for it. Other counters are ignored, and so
        are other columns of tables and of their rows; those of `observations` (`counter:NAME`) are
        read, too.

        `first`, `second` and `trial` are samples of the same run, taken in the placements of
        `looks`, in this order; `trial` goes with `second` only. Samples that the policy does not
        ask for change nothing. Where it asks for one that is not given, the answer is the last one
        so far, which is not final (`explain` has `awaits`).

        Tables have a row for each of n runs, with equal indices, and give a series of n hints with
        this index, each as for the row alone. Raises `AutofinityError` for values that are no
        numbers, for indices that differ and for `trial` without `second`, and a `ValueError`
        besides for counters that are left out, and for a mapping with a name that no policy knows.
        """
        from autofinity.api.samples import is_table

        _check_order(second, trial)
        if is_table(first):
            return self._decide_all(first, second, trial)
        from autofinity.api.left_out import refuse_open
        from autofinity.policy.answers import steps

        given = self._given(first, second, trial)
        found = steps(self.inside, given, self._meant)
        refuse_open(found, {"first": first, "second": second, "trial": trial})
        return self._meant(found.steps[-1].decision.hint)

    def explain(
        self, first: Sample, *, second: Sample | None = None, trial: Sample | None = None
    ) -> Explanation:
        """The hint for the samples of a run (as for `decide`), the reason at each step, and the
        distance to another hint. A counter that is left out counts as not measured. Raises as
        `decide` for values that are no numbers, and for names.
        """
        from autofinity.policy.explain_steps import explain_steps

        _check_order(second, trial)
        given = self._given(first, second, trial)
        found, explained = explain_steps(given)
        hint = self._meant(found.steps[-1].decision.hint)
        return Explanation(hint, found.awaits, given, found, explained)

    def on(self, machine: Machine | str, threads: int) -> Policy:
        """The policy for `threads` threads on a machine, with the machine's facts put in (`facts`).

        Answers are then those for this number of threads, where the policy has others for it; a
        file of `save` has both. Raises `AutofinityError` for an unknown machine, and for threads
        that are no whole number from 1.
        """
        from autofinity.affinity.best_matches import BestMatches
        from autofinity.policy.on_machine import on_machine
        from autofinity.workflow.machine_facts import facts_on

        there, count = as_machine(machine), count_of(threads, "threads")
        here = on_machine(self.inside, facts_on(there.name)(count))
        match = BestMatches(there.topology)
        placed = min(count, len(there.cpus))
        return Policy(here, self.notes, there, count, {hint: match(placed, hint) for hint in HINTS})

    def _given(self, first: Sample, second: Sample | None, trial: Sample | None) -> Given:
        from autofinity.api.samples import sample_of
        from autofinity.policy.answers import Given

        def of(sample: Sample | None, name: str) -> dict[str, float] | None:
            if sample is None:
                return None
            values = sample_of(sample, name, self.counters)
            return {counter: values[counter] for counter in self.counters if counter in values}

        start = sample_of(first, "first", self.counters)
        return Given(
            self.inside, start, of(second, "second"), of(trial, "trial"), self._meant, self._place
        )

    def _meant(self, hint: Hint) -> Hint:
        if self.threads is None or self.machine is None:
            return hint
        return self.inside.at(hint, self.threads, all_cores(self.machine.topology))

    def _place(self, hint: Hint) -> Affinity | Hint:
        return self.places.get(hint, hint)

    def _decide_all(
        self, first: pd.DataFrame, second: pd.DataFrame | None, trial: pd.DataFrame | None
    ) -> pd.Series[Any]:
        import numpy as np
        import pandas as pd

        from autofinity.api.samples import columns_of, refuse_left_out
        from autofinity.policy.evidence import needed_by
        from autofinity.policy.many import Samples, last_answers

        columns = []
        for name, table in (("first", first), ("second", second), ("trial", trial)):
            if table is not None and not isinstance(table, pd.DataFrame):
                raise UsageError(f"{name} is a {type(table).__name__}; expected a table, as first")
            if table is not None and not table.index.equals(first.index):
                raise UsageError(
                    f"the index of {name} differs from that of first; expected a row for each run, "
                    "with the same index (table.reindex)"
                )
            columns.append(None if table is None else columns_of(table, name, self.counters))
        needed = needed_by(self.inside, again=second is not None)
        for name, table, there, asked in zip(
            ("first", "second"), (first, second), columns, needed, strict=False
        ):
            lacking = [counter for counter in asked if counter not in (there or {})]
            refuse_left_out(f"the table {name}", () if table is None else table.columns, lacking)
        samples = Samples(len(first), columns[0] or {}, *columns[1:])
        codes = last_answers(self.inside, samples, self._meant, self._place)
        meant = np.empty(len(HINTS), object)
        meant[:] = [self._meant(hint) for hint in HINTS]
        return pd.Series(meant[codes], index=first.index, name="hint", dtype=object)

    def save(self, path: Path | str) -> None:
        """Write the file that `load_policy` and `autofinity run --policy` read.

        Raises `AutofinityError` where it cannot be written.
        """
        from autofinity.policy.files import save

        save(self.inside, path_of(path, "path"))

    def export(self, form: str) -> str:
        """The text of a file in another form: `c`, `python`, `sql`, `markdown`, `text`, `json`.

        Raises `AutofinityError` for another form, and for a policy that needs facts of a machine
        where the form has no place for facts: export the result of `on` instead.
        """
        from autofinity.policy.export import exported

        if not isinstance(form, str):
            raise UsageError(f"form is a {type(form).__name__}; expected text, such as 'c'")
        return exported(self.inside, form)

    def __repr__(self) -> str:
        counters = ", ".join(map(one_line, self.counters)) or "no counters"
        rules = len(self.inside.rules)
        return f"Policy({rules} rules over {counters}; else {self.default.shown})"

    def __str__(self) -> str:
        from autofinity.policy.readable import policy_text

        return policy_text(self.inside)

    def _repr_html_(self) -> str:
        from autofinity.api.html import lines_html
        from autofinity.api.policy_html import policy_html

        return policy_html(self.inside) + (lines_html(self.notes) if self.notes else "")


def _check_order(second: object, trial: object) -> None:
    """Raise `UsageError` for a sample of the trial without the one before it."""
    if trial is not None and second is None:
        raise UsageError("trial is given without second; expected the samples of both looks")


def policies() -> tuple[str, ...]:
    """Names of the shipped policies, sorted.

    >>> "any-machine" in af.policies()
    True
    """
    from autofinity.policy.shipped import policy_names

    return tuple(sorted(policy_names()))


def load_policy(name: Path | str) -> Policy:
    """The policy in a file, or the shipped policy of this name. Raises `AutofinityError`.

    >>> af.load_policy("any-machine").made_of["machine"]
    'any'
    """
    from autofinity.workflow.policies import named_policy

    return Policy(named_policy(text_of_path(name, "name")))


def as_policy(policy: Policy | Path | str) -> Policy:
    """The given policy, or the one of this name or in this file."""
    return policy if isinstance(policy, Policy) else load_policy(policy)


def file_of(policy: Policy | Path | str, folder: Path) -> str:
    """Name or path of a policy, for functions that take these; a `Policy` is written into
    `folder`.
    """
    if not isinstance(policy, Policy):
        return text_of_path(policy, "policy")
    path = folder / "policy.json"
    policy.save(path)
    return str(path)
