"""From observations to a policy, in one call.

    observations ─► sensitive programs ─► features ─► cut points ─► action table ─► rules

One procedure makes every policy; settings choose its input. With `labels` of periods (the paper's
method), behaviours are sample periods in any affinity and consequences those of the same period
elsewhere. With `labels` of runs, behaviours are samples where runs start, and consequences the
speeds of whole runs under each hint. Each step is a function of its own, for commands that stop
half-way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.affinity.best_matches import BestMatches
from autofinity.learning.action_frame import action_frame, best_of, bins_of, cut_points_of
from autofinity.learning.action_table import build_action_table
from autofinity.learning.bin_rules import policy_over
from autofinity.learning.counter_selection import CounterReport, choose_counters
from autofinity.learning.discretiser import Discretiser, cuts_of
from autofinity.learning.elsewhere import Elsewhere, MatchingPeriods, WholeRuns
from autofinity.learning.feature_columns import with_facts
from autofinity.learning.hint_losses import least_loss, workload_weights
from autofinity.learning.jrip import by_jrip
from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.metric import performance_of
from autofinity.learning.other_counts import with_other_counts
from autofinity.learning.prepared import Prepared, prepare
from autofinity.learning.regret_choice import choose_by_regret
from autofinity.learning.regret_policy import tree_policy
from autofinity.learning.ripper import by_ripper
from autofinity.learning.row_weights import row_weights
from autofinity.learning.second_look import Seen, both_samples, with_second_look
from autofinity.learning.settings import LearningSettings
from autofinity.learning.trial import with_trial
from autofinity.model.affinity import HINTS, SPREAD, Hint
from autofinity.model.errors import LearningError
from autofinity.model.facts import FactsOf
from autofinity.model.policy import RulePolicy
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class LearnedPolicy:
    """A policy, and data on how it was learned."""

    policy: RulePolicy
    table: pd.DataFrame
    """The action table: columns as in `action_frame`."""
    counters: CounterReport | None
    """Report of the selection; None when the counters were given, or nothing was left to choose
    from."""
    notes: tuple[str, ...]
    """One line each: programs left out, an early stop of the search, a policy without rules."""


def learn_policy(
    observations: ObservationTable,
    settings: LearningSettings,
    hints_of: HintsOf,
    provenance: Mapping[str, object],
    matches: BestMatches | None = None,
    facts_of: FactsOf | None = None,
) -> LearnedPolicy:
    """Learn a policy; `provenance` (machine, suite, version, …) is stored in the policy and
    extended. With the machine's best matches the policy also has the meaning of its answers with
    other thread counts, and with `facts_of` rules may use ratios over facts of the machine.

    Too little data (no sensitive program, no varying counter, a single best hint) gives a policy
    that is only a default, and a note with the reason. Raises `LearningError` when the observations
    come from several machines, or lack data that the settings need.
    """
    observations = observations.placed_by("affinity")
    known = observations if facts_of is None else with_facts(observations, facts_of)
    ready = prepare(known, settings, hints_of)
    table, report, notes = _table_to_learn_from(ready)
    policy = learn_rules(table, settings)
    if len(table) == 0 and len(ready.behaviours) and settings.labels == "runs":
        policy = replace(policy, default=_single_best(ready))
    if looks_again(settings) and len(ready.behaviours):
        policy, told = _looking_again(policy, ready)
        notes.append(told)
    if matches is not None and settings.other_counts and len(ready.table):
        policy = with_other_counts(policy, ready.table, ready.metric, ready.losses(), matches)
    notes.extend(_why_no_rules(ready, table, policy))
    kept = {
        **provenance,
        "settings": settings.as_dict(),
        "observations": {
            "digest": observations.digest(),
            "rows": len(observations),
            "programs": list(observations.programs()),
            "used_programs": list(ready.table.programs()),
        },
        "action_table_rows": len(table),
        "notes": list(notes),
    }
    return LearnedPolicy(replace(policy, provenance=kept), table, report, tuple(notes))


def _table_to_learn_from(ready: Prepared) -> tuple[pd.DataFrame, CounterReport | None, list[str]]:
    """The action table, the report of the selection, and notes; no rows without a feature."""
    notes = []
    if ready.insensitive:
        notes.append("left out as insensitive to affinity: " + ", ".join(ready.insensitive))
    none = empty_table(ready.settings.counters or ())
    if not len(ready.table):
        return none, None, notes
    try:
        counters, report = chosen_features(ready)
    except LearningError as error:
        return none, None, [*notes, str(error)]
    if report is not None:
        notes.append(report.note)
    table = make_table(ready, counters, cut(ready, counters)) if counters else none
    return table, report, notes


def _single_best(ready: Prepared) -> Hint:
    """The hint with the least loss where every behaviour gets the same."""
    return HINTS[least_loss(ready.losses()[np.unique(ready.workload)])]


def _looking_again(policy: RulePolicy, ready: Prepared) -> tuple[RulePolicy, str]:
    """`policy` with a second look and a trial where they pay, and the reason."""
    settings, losses, how = ready.settings, ready.losses(), discretiser_of(ready.settings)
    first = Seen(ready.behaviours, ready.workload, how)
    again = Seen(*both_samples(ready.table, settings, ready.hints_of), how)
    policy, told = with_second_look(policy, first, again, losses, settings)
    return with_trial(policy, again, losses, settings.trial), told


def chosen_features(ready: Prepared) -> tuple[tuple[str, ...], CounterReport | None]:
    """The counters and ratios named in the settings, or the chosen ones, with the report.

    Raises `LearningError` when none varies.
    """
    if ready.settings.counters is not None:
        return ready.settings.counters, None
    report = feature_report(ready)
    return report.chosen, report


def feature_report(ready: Prepared) -> CounterReport:
    """Rank the possible inputs of rules, and choose. Raises `LearningError` when nothing varies."""
    settings = ready.settings
    if settings.selection != "regret":
        metric = ready.metric
        if settings.labels == "runs":
            metric = performance_of(ready.behaviours, settings.metric, settings.labels)
        return choose_counters(ready.behaviours, metric, settings.k)
    return choose_by_regret(
        ready.behaviours,
        ready.workload,
        ready.losses(),
        cut(ready, tuple(ready.behaviours.counters)),
        settings.k,
        settings.most_rules,
    )


def looks_again(settings: LearningSettings) -> bool:
    """Whether a second look is to be learned: its rules minimise the loss over whole runs."""
    whole_runs = settings.labels == "runs" and settings.learner == "regret-tree"
    return settings.probe != "none" and whole_runs


def cut(ready: Prepared, counters: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    """Cut points of each chosen counter or ratio."""
    columns = {name: ready.behaviours.counters[name] for name in counters}
    return cuts_of(columns, workload_weights(ready.workload), discretiser_of(ready.settings))


def discretiser_of(settings: LearningSettings) -> Discretiser:
    """Discretiser as the settings require."""
    return Discretiser(
        method=settings.discretisation, bins=settings.bins, number=settings.bin_number
    )


def make_table(
    ready: Prepared,
    counters: tuple[str, ...],
    cuts: Mapping[str, tuple[float, ...]],
) -> pd.DataFrame:
    """Figure 6 over the behaviours, with the comparison that the settings choose.

    Raises `LearningError` where no program is sensitive to affinity, and without counters.
    """
    if not len(ready.table):
        raise LearningError(
            "no program is sensitive to affinity, so there is no action table; profile others"
        )
    if not counters:
        raise LearningError(
            "no feature helps to choose among hints, so there is no action table; profile more "
            "programs"
        )
    settings = ready.settings
    elsewhere: Elsewhere
    if settings.labels == "runs":
        elsewhere = WholeRuns(ready.workload, ready.losses())
        weights = workload_weights(ready.workload)
    else:
        elsewhere = MatchingPeriods(ready.table, ready.performance, ready.hints_of)
        weights = np.ones(len(ready.behaviours))
    return build_action_table(
        ready.behaviours,
        elsewhere,
        counters,
        cuts,
        settings.condense,
        literal=settings.literal,
        weights=weights,
    )


def learn_rules(table: pd.DataFrame, settings: LearningSettings) -> RulePolicy:
    """Rules from an action table; an empty one gives the spread hint for everything.

    Raises `LearningError` when the learner cannot be used.
    """
    if len(table) == 0:
        return policy_over(cut_points_of(table), (), SPREAD)
    if settings.learner == "regret-tree":
        return tree_policy(table, settings.most_rules)
    weights = row_weights(table, settings.weighting)
    learn = by_jrip if settings.learner == "jrip" else by_ripper
    cuts, bins, best = cut_points_of(table), bins_of(table), best_of(table)
    return learn(cuts, bins, best, weights, settings.seed, settings.bin_type)


def _why_no_rules(ready: Prepared, table: pd.DataFrame, policy: RulePolicy) -> list[str]:
    if policy.rules:
        return []
    if len(ready.table) == 0:
        reason = "no program is sensitive to affinity"
    elif len(table) == 0:
        reason = "no behaviour has a known consequence"
    elif table["best"].nunique() == 1:
        reason = f"the same hint is best in all {len(table)} rows of the action table"
    else:
        reason = f"no rule is confirmed on {len(table)} rows of the action table"
    return [f"the policy has no rules and always answers {policy.default.shown}: {reason}"]


def empty_table(counters: tuple[str, ...]) -> pd.DataFrame:
    """An action table without rows."""
    none = np.empty(0, dtype=np.int64)
    nothing = np.empty((0, len(HINTS)))
    bins = none.reshape(0, len(counters))
    return action_frame(dict.fromkeys(counters, ()), bins, (), none, nothing, none, np.empty(0))
