"""A policy for any machine: learned from observations of several machines, and judged on those left
out.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from autofinity import __version__
from autofinity.evaluation.across import (
    LEFT_OUT,
    LeftOut,
    PolicyFor,
    all_of,
    evidence_on,
    learned_anew,
    leaving,
)
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import Skipped
from autofinity.evaluation.machine_runs import MachineRuns
from autofinity.learning.pipeline import LearnedPolicy
from autofinity.learning.settings import LearningSettings
from autofinity.learning.several_machines import learn_from
from autofinity.model.errors import LearningError, UsageError
from autofinity.model.ratios import OTHER_LLC
from autofinity.reporter import SILENT, Reporter
from autofinity.resources import shipped
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.kept_policies import KeptPolicies
from autofinity.workflow.machine_facts import facts_on
from autofinity.workflow.observations import ANY, known_machine, matches_for
from autofinity.workflow.policies import named_policy

EVENTS = 6
"""Number of events that a policy for any machine may count at once: Zen has six counters, Intel's
cores four beside cycles and instructions. With fewer counters, perf multiplexes."""

type Judged = dict[str, tuple[list[Case], list[Skipped]]]
"""Name of the machine → its cases, and the workloads that could not be judged."""


def machines_in(
    folder: Path | None = None, machines: Collection[str] = ()
) -> dict[str, MachineRuns]:
    """The observations of each machine in a folder of files, by default the shipped ones; with
    names, only those of these machines.

    Raises `LearningError` where there are none, `StoreError` for a bad file, and `UsageError` for
    an unknown machine.
    """
    folder = folder or shipped("data", "observations")
    found: dict[str, MachineRuns] = {}
    for table in _tables_in(folder):
        name = known_machine(table)
        if name in found:
            raise LearningError(f"{folder} has two files of {name}, expected one of each machine")
        if not machines or name in machines:
            found[name] = MachineRuns(name, table, matches_for(table, name), facts_on(name))
    if not found:
        raise LearningError(f"{folder} has no observations; expected a file a machine (*.parquet)")
    return found


def rules_of_machines(
    folder: Path | None = None, settings: LearningSettings | None = None
) -> LearnedPolicy:
    """The policy for any machine, from the observations in a folder. Raises the errors of
    `machines_in`.
    """
    known = machines_in(folder)
    settings = for_any_machine(settings)
    rows = sum(len(runs.table) for runs in known.values())
    programs = sorted({name for runs in known.values() for name in runs.table.programs()})
    made_of = {
        "machine": ANY,
        "machines": sorted(known),
        "autofinity": __version__,
        "observations": {"rows": rows, "programs": programs},
    }
    return learn_from(all_of(evidence_on(known, settings)), settings, made_of)


def evaluate_across(
    settings: LearningSettings | None = None,
    *,
    observations: Path | None = None,
    machines: Collection[str] = (),
    policy: str | Path | None = None,
    left_out: Collection[LeftOut] = LEFT_OUT,
    work: Path | None = None,
    reporter: Reporter = SILENT,
) -> dict[str, Judged]:
    """Results on each machine, by the part that is `left_out` of the observations for learning.

    Under "nothing", the results of a given `policy` without further learning. Learned policies are
    kept in the folder `work`, where a later call finds them.

    Raises the errors of `machines_in`, and `LearningError` where no case can be judged.
    """
    settings = for_any_machine(settings)
    known = machines_in(observations, machines)
    if policy is not None:
        given = named_policy(policy)
        policies: dict[str, PolicyFor] = {"nothing": lambda machine, program: given}
    else:
        evidence = all_of(evidence_on(known, settings))
        kept = KeptPolicies(work, settings, evidence.digest()) if work is not None else None
        keep = kept.get if kept is not None else learned_anew
        policies = {unseen: leaving(unseen, evidence, settings, keep) for unseen in left_out}
    found: dict[str, Judged] = {}
    workloads = sum(len(np.unique(runs.table.workload())) for runs in known.values())
    with reporter.progress("judge", workloads * len(policies)) as done:
        for unseen, policy_for in policies.items():
            found[unseen] = {
                name: runs.judged(functools.partial(policy_for, name), done.step)
                for name, runs in known.items()
            }
    if not any(cases for judged in found.values() for cases, _ in judged.values()):
        raise LearningError("no case can be judged: runs in the best matches of hints are missing")
    return found


def for_any_machine(settings: LearningSettings | None = None) -> LearningSettings:
    """Settings for a policy for any machine.

    Such a policy may use counters that only some machines have, and defines its answers without
    them. Raises `UsageError` for labels of sample periods: those of several machines are not
    comparable.
    """
    settings = settings or LearningSettings()
    if settings.labels != "runs":
        raise UsageError(
            "a policy for any machine is learned from whole runs, the published method (--paper, "
            "--labels periods) from sample periods of one machine; name one with --machine"
        )
    k = max(settings.k, EVENTS)
    # Zen does not count lines from caches in the own LLC domain. With them the policy wins no case
    # more (204 and 203 of 204, without the program, and without the machine as well).
    return replace(settings, cross_core=(OTHER_LLC,), k=k)


def _tables_in(folder: Path) -> Iterator[ObservationTable]:
    if folder.is_file():
        yield read(folder)
        return
    for path in sorted(folder.glob("*.parquet")):
        yield read(path)
