"""From a fitted estimator of `learning.rule_list_classifier` to a policy."""

from __future__ import annotations

import math

from autofinity.learning.bin_rules import policy_over
from autofinity.learning.rule_list_classifier import RuleListClassifier
from autofinity.model.affinity import Hint
from autofinity.model.errors import LearningError
from autofinity.model.policy import Rule, RulePolicy


def policy_of_rules(model: RuleListClassifier) -> RulePolicy:
    """The policy with the rules of a fitted estimator, over the features that they use.

    Labels are names or letters of hints; features are counters or ratios, by the names of the
    columns that the estimator was fitted with. Raises `LearningError` for other
    labels and for columns without names, `NotFittedError`.
    """
    if model.rules_table.empty or not hasattr(model, "feature_names_in_"):
        raise LearningError(
            "the estimator was fitted with columns without names; fit it with a table whose "
            "columns are counters or ratios"
        )
    *rules, last = [
        Rule(rule.conditions, _hint(rule.label), rule.covered, rule.wrong) for rule in model.rules_
    ]
    edges: dict[str, set[float]] = {}
    for condition in (condition for rule in rules for condition in rule.conditions):
        bounds = edges.setdefault(condition.counter, set())
        bounds |= {bound for bound in (condition.lower, condition.upper) if math.isfinite(bound)}
    named = [name for name in model.feature_names_in_ if name in edges]
    cuts = {name: tuple(sorted(edges[name])) for name in named}
    return policy_over(cuts, tuple(rules), last.hint)


def _hint(label: object) -> Hint:
    try:
        return Hint.parse(str(label))
    except ValueError as error:
        raise LearningError(f"a label of the estimator is no hint: {error}") from None
