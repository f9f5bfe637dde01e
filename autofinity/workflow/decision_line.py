"""The decision about a run in one line: which rule, or why there is none."""

from __future__ import annotations

from pathlib import Path

from autofinity.model.errors import AutofinityError
from autofinity.runtime.undecided import reason_on_record
from autofinity.store.behaviour_rows import RunRecord
from autofinity.workflow.run_records import policy_of, run_now


def decision_line(run: RunRecord, database: Path) -> str:
    """One line, for a run whose hint is shown beside it. Never raises for what is on record."""
    why = reason_on_record(run, alive=run.ended is None)
    if why:
        return f"nothing was decided yet: {why}"
    if run.hint is None:
        return "threads are placed by sharing"
    policy, trouble = policy_of(run)
    if policy is None:
        asked = next((line for line in run.notes.splitlines() if "--hint" in line), "")
        return asked or trouble
    from autofinity.policy.explain import explain
    from autofinity.policy.sentences import sentence

    try:
        sample = run.sample or run_now(str(run.id), database).sample
    except AutofinityError as error:
        return str(error)
    decision = explain(policy, sample).decision
    known = "" if run.sample else "on record, "
    if decision.rule is None:
        return f"{known}by the default: none of {len(policy.rules)} rules holds"
    said = sentence(policy.rules[decision.rule])
    return f"{known}by rule {decision.rule + 1} of {len(policy.rules)}" + (
        f": {said}" if said else ""
    )
