"""Policies as JSON documents, as `policy.files` describes."""

from __future__ import annotations

import math
from collections.abc import Mapping

from autofinity.model.errors import PolicyError
from autofinity.model.policy import OtherCounts, RulePolicy, SecondLook, Trial
from autofinity.policy.reading import FORMAT


def policy_document(policy: RulePolicy) -> dict[str, object]:
    """The whole policy, as a file of its version holds it.

    Raises `PolicyError` for provenance that JSON has no form for.
    """
    document: dict[str, object] = {
        "format": FORMAT,
        "version": policy.version,
        "counters": list(policy.counters),
        **_rules_document(policy),
        "second": None if policy.second is None else _second_document(policy.second),
        "trial": None if policy.trial is None else _trial_document(policy.trial),
        "other_counts": _other_counts_document(policy.other_counts),
        "provenance": _writable(policy.provenance, "provenance"),
    }
    if policy.version < 6 and policy.trial is None:
        del document["trial"]
    if policy.version < 4 and policy.other_counts is None:
        del document["other_counts"]
    if policy.version < 3 and policy.second is None:
        del document["second"]
    if policy.version < 2 and not policy.ratios:
        del document["ratios"]
    return document


def _second_document(second: SecondLook) -> dict[str, object]:
    return {
        "sampled_in": str(second.sampled_in),
        "after": [str(hint) for hint in second.after],
        **_rules_document(second.policy),
    }


def _trial_document(trial: Trial) -> dict[str, object]:
    return {
        "hint": str(trial.hint),
        "faster": trial.faster,
    }


def _other_counts_document(other: OtherCounts | None) -> dict[str, object] | None:
    if other is None:
        return None
    return {
        "cores": str(other.cores),
        "instead": [
            {
                "hint": str(entry.hint),
                "threads": [entry.least, entry.most],
                "better": str(entry.better),
            }
            for entry in other.instead
        ],
    }


def _rules_document(policy: RulePolicy) -> dict[str, object]:
    """Document of one look: ratios, cut points, rules and a default."""
    return {
        "ratios": [
            {
                "name": ratio.name,
                "numerator": list(ratio.numerator),
                "denominator": list(ratio.denominator),
                "scale": ratio.scale,
                **({"fact": ratio.fact} if ratio.fact else {}),
            }
            for ratio in policy.ratios
        ],
        "cut_points": {name: list(cuts) for name, cuts in policy.cut_points.items()},
        "rules": [
            {
                "hint": str(rule.hint),
                "when": [
                    {"counter": c.counter, "above": _open(c.lower), "upto": _open(c.upper)}
                    for c in rule.conditions
                ],
                "covered": rule.covered,
                "wrong": rule.wrong,
            }
            for rule in policy.rules
        ],
        "default": str(policy.default),
    }


def _open(bound: float) -> float | None:
    return None if math.isinf(bound) else bound


def _writable(value: object, where: str) -> object:
    """Provenance as JSON: tuples become lists; NaN and ∞ become their names."""
    if isinstance(value, Mapping):
        return {str(key): _writable(part, f"{where}.{key}") for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(part, where) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | int | float):
        return value
    raise PolicyError(
        f"{where} holds a {type(value).__name__}, expected text, numbers, lists and mappings"
    )
