"""`run --every` on a real program: one that changes is sampled and decided about again."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from permitted import needs_two_cpus

from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.files import save

type Runner = Any  # of conftest.py


@needs_two_cpus
def test_a_policy_of_software_events_follows_a_program_through_its_phases(
    run: Runner, phases: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.json"
    faulting = Rule((Condition("page_faults", 1000.0, float("inf")),), PACKED)
    save(RulePolicy(("page_faults",), {"page_faults": (1000.0,)}, (faulting,), SPREAD), policy)
    options = ("--policy", policy, "--bind", "core", "--period", "0.2s", "--every", "0.2")

    def placed_by(hint: Hint) -> bool:
        last = run.placed()
        return last is not None and last.hint == hint

    # Two threads on two CPUs: whatever the hint, nobody moves, and samples can be compared.
    with run.lasting(*options, "--", phases, "2", "300", preexec_fn=run.on_two_cpus) as process:
        assert run.eventually(lambda: placed_by(SPREAD)), run.last()
        for hint in (PACKED, SPREAD):
            os.kill(process.pid, signal.SIGUSR1)
            assert run.eventually(lambda hint=hint: placed_by(hint)), run.last()
        assert "the program has changed (page_faults" in run.last().notes
