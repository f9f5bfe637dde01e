"""The cost of readable rules: compared with trees, forests and boosting, on the same programs.

    python scripts/studies/upper_bounds.py [--machine M] [--into docs/policy-study.md]
        [--learners docs/learners.md]

Each learner gets the features that the default policy may use in one look, but all at once and
without bins: the ratios that every PMU can count over the whole run in its first affinity ("both":
all ratios and all rates), and the cost of each hint. The learner predicts the loss of every hint
and takes the smallest. 8 threads, leave one program out. With `--into` the table goes between its
marks in a document, with `--learners` the rows of rule learners in another.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from policy_rows import Judged, judged_on, leave_one_out, of_threads, row
from policy_study import OBSERVATIONS, OURS, TRAINED_WITH
from shown_table import add_into, show_table
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeRegressor

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.judge import Learn
from autofinity.learning.bin_rules import policy_over
from autofinity.learning.hint_losses import workload_weights
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.prepared import prepare
from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import HINTS
from autofinity.model.policy import RulePolicy
from autofinity.report.marked import put_between_marks
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.backends import machine_topology

type Floats = npt.NDArray[np.float64]
type Model = Callable[[], Any]

TREES = 200
MODELS: Mapping[str, Model] = {
    "one hint for all programs": DummyRegressor,
    "a tree of 9 leaves": lambda: DecisionTreeRegressor(max_leaf_nodes=9, random_state=1),
    "a tree of any size": lambda: DecisionTreeRegressor(random_state=1),
    "random forest": lambda: RandomForestRegressor(TREES, random_state=1),
    "extremely random trees": lambda: ExtraTreesRegressor(TREES, random_state=1),
    "gradient boosting": lambda: MultiOutputRegressor(
        GradientBoostingRegressor(n_estimators=TREES, learning_rate=0.05, random_state=1)
    ),
}
COMMAND = "scripts/studies/upper_bounds.py"
HEAD = (
    "| learner | may look at | interesting won | of the best hint | of the oracle "
    "| median regret | worst | rules |\n|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--machine", default="opteron-6164he")
    add_into(words)
    words.add_argument("--learners", type=Path, help="one with marks for the rows of rules")
    wanted = words.parse_args()
    table = of_threads(read(OBSERVATIONS / f"{wanted.machine}.parquet"), TRAINED_WITH)
    rows = (row(name, seen, judged) for name, seen, judged in bounds(wanted.machine, table))
    lines = show_table(itertools.chain([HEAD], rows), wanted.into, COMMAND)
    if wanted.learners is not None:
        rules = [HEAD, *(line for line in lines if "rules of" in line)]
        put_between_marks(wanted.learners, COMMAND, "\n".join(rules))


def bounds(machine: str, table: ObservationTable) -> Iterator[tuple[str, str, Judged]]:
    """(learner, features, its cases): our rules first."""
    one_look = replace(OURS, probe="none")
    yield "**rules of the regret tree**", "portable", leave_one_out(machine, table, one_look, 0)
    own = replace(one_look, learner="ripper")
    yield "rules of our own RIPPER", "portable", leave_one_out(machine, table, own, 0)
    jrip = replace(one_look, learner="jrip")
    yield "rules of JRip", "portable", leave_one_out(machine, table, jrip, 0)
    for name, model in MODELS.items():
        features = ("portable",) if name == "one hint for all programs" else ("portable", "both")
        for seen in features:
            settings = replace(one_look, features=seen)
            learn = foreseeing(machine, table, settings, model)
            yield name, seen, judged_on(machine, table, (learn, []), 0)


def foreseeing(
    machine: str, table: ObservationTable, settings: LearningSettings, model: Model
) -> Learn:
    """Learn from all other programs; the policy has one hint, chosen for the program left out."""
    hints_of = hints_on(BestMatches(machine_topology(machine)), settings.leeway)
    whole = prepare(table, settings, hints_of, everything=True).behaviours
    values = matrix(whole)

    def without(program: str) -> RulePolicy:
        ready = prepare(table.without_program(program), settings, hints_of)
        losses = ready.losses()
        loss = losses[ready.workload]
        known = ~np.isnan(loss).all(axis=1)
        loss = np.where(np.isnan(loss), np.nanmax(loss[known], axis=1).max(initial=0.0), loss)
        fitted = model().fit(
            matrix(ready.behaviours)[known],
            loss[known],
            sample_weight=workload_weights(ready.workload)[known],
        )
        foreseen = fitted.predict(values[whole.program.text() == program])
        hint = HINTS[int(np.argmin(foreseen.mean(axis=0)))]
        return policy_over({}, (), hint)

    return without


def matrix(behaviours: ObservationTable) -> Floats:
    """Samples × features; a missing value is −1, which no rate and no ratio is."""
    columns = np.column_stack([behaviours.counters[name] for name in sorted(behaviours.counters)])
    return np.where(np.isnan(columns), -1.0, columns)


if __name__ == "__main__":
    main()
