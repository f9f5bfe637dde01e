"""What the placement is worth: what training programs gained that fell under the same rule.

The policy's file has no times. The observations that it was learned from have, and they are shipped
with a shipped policy: the same rule is asked of each program's sample, and its time in the advised
affinity is looked up beside that under the operating system.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import numpy as np

from autofinity.evaluation.bootstrap import DRAWS, LEVEL
from autofinity.evaluation.judge import behaviour_seen
from autofinity.evaluation.times import geometric_mean, times_of
from autofinity.learning.feature_columns import with_sums
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.model.affinity import DISTRIBUTED
from autofinity.model.errors import AutofinityError
from autofinity.model.policy import RulePolicy
from autofinity.policy.firing import fired
from autofinity.policy.readable import number
from autofinity.policy.selector import values_of
from autofinity.store.observation_table import ObservationTable
from autofinity.workflow.advice.placement import Chosen
from autofinity.workflow.advice.seen import Section, Seen
from autofinity.workflow.observations import matches_for, observations_of
from autofinity.workflow.several_machines import ANY

_FEWEST = 3  # programs for an interval


@dataclass(frozen=True, slots=True)
class Known:
    """Of the training programs under one rule."""

    gains: dict[str, float]
    """Program → T_os / T_advised, above 1: faster."""
    regrets: dict[str, float]
    """Program → share of time lost against the best of the hints that were profiled."""


def gain(seen: Seen, chosen: Chosen | None) -> Section:
    """Expected gain over the system's own placement, with its interval."""
    if chosen is None or seen.policy is None:
        return _unknown("nothing was decided", (), {})
    rule = chosen.why.decision.rule
    weights, facts = _weights(seen.policy, rule)
    try:
        known = known_of(seen.policy, rule, chosen)
    except (AutofinityError, KeyError, ValueError) as error:
        return _unknown(f"the policy's file has no times, and {error}", weights, facts)
    if not known.gains:
        return _unknown("no training program fell under this rule", weights, facts)
    return _told(known, rule, weights, facts)


def known_of(policy: RulePolicy, rule: int | None, chosen: Chosen) -> Known:
    """Look it up. Raises `AutofinityError` where what it was learned from is not shipped."""
    table, threads = _learned_from(policy)
    matches, times, sums = matches_for(table), times_of(table), with_sums(table)
    found = Known({}, {})
    for workload, by_affinity in times.roi_s.items():
        if workload.threads != threads:
            continue
        start = matches(threads, DISTRIBUTED)
        sample = behaviour_seen(sums, workload, start, WARMUP_PERIODS, 0)
        advised = by_affinity.get(matches(threads, chosen.why.decision.hint))
        under_os = times.baselines.get(workload, {}).get("os")
        if fired(policy, values_of(policy, sample)) == rule and advised and under_os:
            found.gains[workload.program] = under_os / advised
            found.regrets[workload.program] = advised / min(by_affinity.values()) - 1
    return found


def _learned_from(policy: RulePolicy) -> tuple[ObservationTable, int]:
    """The shipped observations, if they are those, and the thread count that was learned at."""
    machine, threads = policy.provenance.get("machine"), policy.provenance.get("threads")
    if machine == ANY:
        raise ValueError("it was learned on several machines, whose gains are not this one's")
    if not isinstance(machine, str) or not (isinstance(threads, list) and len(threads) == 1):
        raise ValueError("it does not say of what machine and thread count it was learned")
    made_of = policy.provenance.get("observations")
    digest = made_of.get("digest") if isinstance(made_of, dict) else None
    table = observations_of(machine)
    placed = table.placed_by("affinity")
    if placed.take(placed.threads == threads[0]).digest() != digest:
        raise ValueError(
            f"it was learned from other observations than the shipped ones of {machine}"
        )
    return table, threads[0]


def _weights(policy: RulePolicy, rule: int | None) -> tuple[tuple[str, ...], dict[str, object]]:
    if rule is None:
        return ("the default decided, of which the file says no weights",), {"rule": None}
    said = policy.rules[rule]
    facts: dict[str, object] = {"rule": rule, "covered": said.covered, "wrong": said.wrong}
    line = (
        f"rule {rule + 1} covers a weight of {number(said.covered)} of the training cases, "
        f"{number(said.wrong)} of it wrongly"
    )
    return (line,), facts


def _unknown(why: str, evidence: tuple[str, ...], facts: dict[str, object]) -> Section:
    return Section(
        "expected gain",
        "not known",
        (why, *evidence),
        {**facts, "gain": None, "interval": None, "why_not": why},
    )


def _told(
    known: Known, rule: int | None, weights: tuple[str, ...], facts: dict[str, object]
) -> Section:
    gains = list(known.gains.values())
    middle, interval = geometric_mean(gains), _interval(gains)
    worst = max(known.regrets, key=lambda program: known.regrets[program])
    by = "the default" if rule is None else f"rule {rule + 1}"
    said = (
        f"{interval[0]:.2f} to {interval[1]:.2f}, 95 % by bootstrap over programs"
        if interval
        else f"no interval: fewer than {_FEWEST} programs"
    )
    regret = f"{statistics.median(known.regrets.values()):.1%} (median)"
    evidence = (
        f"{len(gains)} of the programs that the policy was learned from fell under {by}: "
        f"{', '.join(known.gains)}",
        f"time under the system over time as advised: {min(gains):.2f} to {max(gains):.2f}",
        f"lost against the best hint: {regret}, {known.regrets[worst]:.1%} at most ({worst})",
        "the rule had seen them; `autofinity evaluate` judges rules that have not",
        *weights,
    )
    facts |= {
        "gain": middle,
        "interval": interval,
        "gains": known.gains,
        "regrets": known.regrets,
        "why_not": None,
    }
    advice = f"{middle:.2f} times the speed under the operating system ({said})"
    return Section("expected gain", advice, evidence, facts)


def _interval(gains: list[float]) -> list[float] | None:
    """Of their geometric mean."""
    if len(gains) < _FEWEST:
        return None
    logs = np.log(gains)
    drawn = np.random.default_rng(1).choice(logs, size=(DRAWS, len(logs))).mean(axis=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return [math.exp(low), math.exp(high)]
