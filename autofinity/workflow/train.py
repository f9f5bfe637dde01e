"""From a suite, from observations or from an action table to a policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from autofinity import __version__
from autofinity.learning import table_file
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import LearnedPolicy, learn_policy, learn_rules
from autofinity.learning.settings import LearningSettings
from autofinity.model.policy import RulePolicy
from autofinity.reporter import SILENT, Reporter
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.machine_events import settings_on
from autofinity.workflow.machine_facts import facts_on
from autofinity.workflow.observations import (
    known_machine,
    machine_of,
    matches_for,
    thread_counts_of,
    with_threads,
)
from autofinity.workflow.profile import gather
from autofinity.workflow.wanted import Wanted


def train(
    wanted: Wanted, settings: LearningSettings | None = None, reporter: Reporter = SILENT
) -> LearnedPolicy:
    """Capture, profile and learn; existing results are not made again.

    Raises `LearningError` when nothing can be profiled or learned.
    """
    return learn(gather(wanted, reporter), wanted, settings or LearningSettings())


def learn(table: ObservationTable, wanted: Wanted, settings: LearningSettings) -> LearnedPolicy:
    """The policy of these observations, with its provenance."""
    made_of = {
        "machine": wanted.machine,
        "suite": wanted.suite.name,
        "size": ",".join(wanted.sizes),
        "threads": list(thread_counts_of(table)),
        "autofinity": __version__,
    }
    return _learned(table, wanted.machine, settings, made_of)


def rules_of_observations(
    source: Path,
    settings: LearningSettings,
    *,
    machine: str | None = None,
    threads: Collection[int] = (),
) -> tuple[RulePolicy, tuple[str, ...]]:
    """The policy of a file or folder of observations, and notes on the learning.

    With `threads`, only these thread counts are used. Raises `LearningError` where there are none.
    """
    seen = read(source)
    return rules_of(with_threads(seen, threads) if threads else seen, settings, machine=machine)


def rules_of(
    seen: ObservationTable, settings: LearningSettings, *, machine: str | None = None
) -> tuple[RulePolicy, tuple[str, ...]]:
    """The policy of observations, and notes on the learning.

    `machine` is the machine of their affinities, by default the machine that they name. Raises
    `LearningError`, `UsageError`.
    """
    made_of = {
        "machine": machine_of(seen),
        "threads": list(thread_counts_of(seen)),
        "autofinity": __version__,
    }
    learned = _learned(seen, machine, settings, made_of)
    return learned.policy, learned.notes


def rules_of_table(source: Path, settings: LearningSettings) -> tuple[RulePolicy, tuple[str, ...]]:
    """The policy of a stored action table, and notes on the learning."""
    table, provenance = table_file.load(source)
    policy = learn_rules(table, settings)
    made_of = {
        **provenance,
        "autofinity": __version__,
        "action_table_rows": len(table),
        "rules": {
            "learner": settings.learner,
            "bin_type": settings.bin_type,
            "weighting": settings.weighting,
            "seed": settings.seed,
        },
    }
    notes = () if policy.rules else (f"no rule: the policy always answers {policy.default.shown}",)
    made_of["notes"] = list(notes)
    return replace(policy, provenance=made_of), notes


def _learned(
    table: ObservationTable,
    machine: str | None,
    settings: LearningSettings,
    made_of: Mapping[str, object],
) -> LearnedPolicy:
    settings = settings_on(settings, machine or known_machine(table), table.counters)
    matches = matches_for(table, machine)
    facts_of = facts_on(machine or known_machine(table))
    hints_of = hints_on(matches, settings.leeway)
    return learn_policy(table, settings, hints_of, made_of, matches, facts_of)
