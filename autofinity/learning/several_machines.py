"""One policy for all machines: whole runs on each, with facts of the machine among the features.

    machine ─► samples where runs start, and in a second affinity ─┐
            └► loss of each hint for each workload ─────────────────┴► stacked ─► features ─► rules

A workload is one program, input and thread count on one machine. Features are chosen by their loss
on held-out programs, and on held-out machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from autofinity.learning.bin_rules import policy_over
from autofinity.learning.hint_losses import least_loss
from autofinity.learning.leeway_hints import HintsOf
from autofinity.learning.pipeline import (
    LearnedPolicy,
    discretiser_of,
    empty_table,
    learn_rules,
    looks_again,
)
from autofinity.learning.prepared import prepare
from autofinity.learning.regret_choice import choose_by_regret
from autofinity.learning.second_look import Seen, both_samples, with_second_look
from autofinity.learning.settings import LearningSettings
from autofinity.learning.trial import with_trial
from autofinity.model.affinity import HINTS, SPREAD
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]


MOVING = 0.002
"""Share of the time by which a hint has to be better than the starting placement. A smaller gain is
a tie that depends on the machines of the evidence, and differs on other machines."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Evidence from the runs on one machine, or on several."""

    first: Seen
    again: Seen | None
    """Samples of the second look; None where no second look is wanted."""
    losses: Floats
    """Losses, workloads × 8: those of `hint_losses.hint_losses`, and `MOVING` for hints that
    move."""

    def without(self, *, machines: Collection[str] = (), program: str = "") -> Evidence:
        """The evidence without some machines, and without a program on all machines."""

        def left(look: Seen) -> Seen:
            seen = look.features
            of_machines = [seen.machine.equals(machine) for machine in machines]
            return look.take(~np.any([*of_machines, seen.program.equals(program)], axis=0))

        again = self.again
        return Evidence(left(self.first), None if again is None else left(again), self.losses)

    def digest(self) -> str:
        """SHA-256 of all values: the same evidence and settings give the same policy."""
        total = hashlib.sha256(self.losses.tobytes())
        for look in (self.first, *([self.again] if self.again is not None else [])):
            total.update(f"{look.features.digest()} {look.discretiser!r}".encode())
            total.update(look.workload.tobytes())
        return total.hexdigest()


def evidence_of(table: ObservationTable, settings: LearningSettings, hints_of: HintsOf) -> Evidence:
    """Evidence from the observations of one machine.

    They must have the facts of the machine among their counters (`feature_columns.with_facts`).
    Raises the errors of `prepared.prepare`.
    """
    ready = prepare(table, settings, hints_of)
    how = discretiser_of(settings)
    again = looks_again(settings)
    return Evidence(
        Seen(ready.behaviours, ready.workload, how),
        Seen(*both_samples(ready.table, settings, hints_of), how) if again else None,
        ready.losses() + _MOVING,
    )


_MOVING = np.where([hint == SPREAD for hint in HINTS], 0.0, MOVING)


def joined(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of several machines as one."""
    starts = np.cumsum([0, *(len(part.losses) for part in parts)])[:-1]
    again = [part.again for part in parts if part.again is not None]

    def stacked(looks: Sequence[Seen]) -> Seen:
        workload = [look.workload + start for look, start in zip(looks, starts, strict=True)]
        features = ObservationTable.stacked([look.features for look in looks])
        return Seen(features, np.concatenate(workload), looks[0].discretiser)

    return Evidence(
        stacked([part.first for part in parts]),
        stacked(again) if len(again) == len(parts) else None,
        np.concatenate([part.losses for part in parts]),
    )


def learn_from(
    evidence: Evidence, settings: LearningSettings, provenance: Mapping[str, object]
) -> LearnedPolicy:
    """The policy with the least loss on all machines of the evidence.

    With too little data for rules, the policy is only a default, with a note that has the reason.
    """
    first, losses = evidence.first, evidence.losses
    cuts = first.cuts()
    table, report = empty_table(()), None
    policy = policy_over({}, (), HINTS[least_loss(losses[np.unique(first.workload)])])
    try:
        report = choose_by_regret(
            first.features, first.workload, losses, cuts, settings.k, settings.most_rules
        )
    except LearningError as error:
        notes = [str(error)]
    else:
        notes = [report.note]
        if report.chosen:
            chosen = {name: cuts[name] for name in report.chosen}
            table = first.action_table(losses, chosen, settings.condense)
            policy = learn_rules(table, settings)
    if evidence.again is not None and len(evidence.again.workload):
        policy, told = with_second_look(policy, first, evidence.again, losses, settings)
        notes.append(told)
        policy = with_trial(policy, evidence.again, losses, settings.trial)
    kept = {**provenance, "settings": settings.as_dict(), "notes": list(notes)}
    return LearnedPolicy(replace(policy, provenance=kept), table, report, tuple(notes))
