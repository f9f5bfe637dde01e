"""A policy for any machine: learned from observations of several, and judged on those left out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from autofinity import __version__
from autofinity.evaluation.across import LeftOut, MachineRuns, all_of, evidence_on, unseen
from autofinity.evaluation.cases import Case
from autofinity.evaluation.judge import Skipped
from autofinity.evaluation.verdict import Verdict, verdict_of
from autofinity.learning.pipeline import LearnedPolicy
from autofinity.learning.settings import LearningSettings
from autofinity.learning.several_machines import learn_from
from autofinity.model.errors import LearningError
from autofinity.model.policy import RulePolicy
from autofinity.model.ratios import CROSS_CORE_COUNTERS
from autofinity.reporter import SILENT, Reporter
from autofinity.resources import shipped
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.machine_facts import facts_on
from autofinity.workflow.observations import known_machine, matches_for
from autofinity.workflow.policies import named_policy

ANY = "any"
"""In the place of a machine's name: all that were observed."""


@dataclass(frozen=True, slots=True)
class JudgedMachine:
    """How a policy that is for any machine does on one."""

    machine: str
    cases: list[Case]
    skipped: list[Skipped]


@dataclass(frozen=True, slots=True)
class Across:
    """The cases of each machine, and the verdict over all of them."""

    machines: list[JudgedMachine]
    verdict: Verdict


def machines_in(
    folder: Path | None = None, machines: Collection[str] = ()
) -> dict[str, MachineRuns]:
    """The observations of each machine in a folder of files, by default those that are shipped; of
    these machines only, where some are named.

    Raises `LearningError` where there are none, `StoreError` for a bad file, and `UsageError` for a
    machine that nobody knows.
    """
    folder = folder or shipped("data", "observations")
    tables: dict[str, list[ObservationTable]] = {}
    for table in _tables_in(folder):
        name = known_machine(table)
        if not machines or name in machines:
            tables.setdefault(name, []).append(table)
    if not tables:
        raise LearningError(f"{folder} has no observations; expected a file a machine (*.parquet)")
    return {
        name: MachineRuns(name, _joined(found), matches_for(found[0], name), facts_on(name))
        for name, found in tables.items()
    }


def rules_of_machines(
    folder: Path | None = None,
    settings: LearningSettings | None = None,
    machines: Collection[str] = (),
) -> LearnedPolicy:
    """The policy for any machine, of the observations in a folder. Raises as `machines_in`."""
    known = machines_in(folder, machines)
    settings = _with_cross_core(settings)
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
    left_out: LeftOut,
    settings: LearningSettings | None = None,
    *,
    observations: Path | None = None,
    judged: Path | None = None,
    machines: Collection[str] = (),
    policy: str | Path | None = None,
    reporter: Reporter = SILENT,
) -> Across:
    """Judge on each machine of `judged`, by default of `observations`, what was learned from those
    without the machine, the program, or both; or a `policy` as it is.

    Raises as `machines_in`, and `LearningError` where no case can be judged.
    """
    settings = _with_cross_core(settings)
    known = machines_in(observations, machines)
    others = known if judged is None else machines_in(judged, machines)
    if policy is not None:
        policy_for = _given(policy)
    else:
        policy_for = unseen(all_of(evidence_on(known, settings)), left_out, settings)
    found = []
    total = sum(len(np.unique(runs.table.workload())) for runs in others.values())
    with reporter.progress("judge", total) as done:
        for name, runs in others.items():
            judged_here = runs.judged(functools.partial(policy_for, name), done.step)
            found.append(JudgedMachine(name, *judged_here))
    cases = [case for machine in found for case in machine.cases]
    if not cases:
        raise LearningError("no case can be judged: the runs in the best matches of hints lack")
    return Across(found, verdict_of(cases))


def _given(name: str | Path) -> Callable[[str, str], RulePolicy]:
    policy = named_policy(name)
    return lambda machine, program: policy


def _with_cross_core(settings: LearningSettings | None) -> LearningSettings:
    """A policy for any machine may ask for what some count; it says what it does without."""
    return replace(settings or LearningSettings(), cross_core=tuple(CROSS_CORE_COUNTERS))


def _tables_in(folder: Path) -> Iterator[ObservationTable]:
    if folder.is_file():
        yield read(folder)
        return
    for path in sorted(folder.glob("*.parquet")):
        yield read(path)


def _joined(tables: list[ObservationTable]) -> ObservationTable:
    if len(tables) == 1:
        return tables[0]
    import pandas as pd

    return ObservationTable.from_pandas(pd.concat([table.to_pandas() for table in tables]))
