"""From an estimator of scikit-learn's kind to a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofinity.api.policies import Policy
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.learning.rule_list_classifier import RuleListClassifier


def policy_of(model: RuleListClassifier) -> Policy:
    """The policy with the rules of a fitted estimator (`RegretClassifier`, `RipperClassifier` …),
    to save, explain, export or run.

    The estimator was fitted with `X` and `y` of `training_data`, or the like: labels are names or
    letters of hints, and columns have the names of ratios and counters. The policy takes no second
    look and tries no placement. Where a rule uses a ratio over a fact of the machine (`facts`),
    `Policy.on` puts the fact in.

    Raises `AutofinityError` for other labels, for columns without names and for anything that is
    no estimator of ours, and scikit-learn's `NotFittedError`.

    >>> data = af.training_data("opteron-6164he")
    >>> model = af.RegretClassifier(bins=20, most_rules=2).fit(data.X, data.y, **data.fit_params)
    >>> len(af.policy_of(model).rules)
    2
    """
    from autofinity.learning.rule_list_classifier import RuleListClassifier
    from autofinity.learning.rule_list_policy import policy_of_rules

    if not isinstance(model, RuleListClassifier):
        raise UsageError(f"got {type(model).__name__}; expected a fitted estimator of ours")
    return Policy(policy_of_rules(model))
