"""Why a run has no decision: the monitor's note, and the reason from the record."""

from __future__ import annotations

from autofinity.runtime.live_state import LiveState
from autofinity.store.behaviour_rows import RunRecord

UNDECIDED = "nothing was decided: "
"""Beginning of the note that gives the reason."""
LEFT = "left as it is: "
"""Beginning of the note on threads for which no placement was found."""
NOT_AT_WORK = "for ten seconds of looks its threads were not all at work"
"""A reason that may pass: others last as long as the program."""
WAITED = "it waited for ten seconds while it was sampled: sampled again when it computes"
ONE_OF_A_RANK = "one thread of this rank computes: it runs anywhere in the rank's share"
_REMEDY = "a larger input keeps threads at work for longer"
_YET = {
    "": "its monitor is starting",
    "watching": "the program is watched until its threads compute and stay the same",
    "settling": "threads are about to be sampled",
    "sampling": "threads are being sampled",
}


def why_undecided(state: LiveState, promised: int, length: str = "") -> str:
    """Reason for no decision about a program that has ended; empty where something was decided.

    `promised` is the promised number of threads (0: none). `length` is how long the program was
    watched, with its unit, where the clock of `state` is not the program's. A reason that lasts
    stays the reason where threads have changed since.
    """
    if state.phase == "placed" or state.decision is not None:
        return ""
    noted = [line for line in state.notes if line.startswith((UNDECIDED, LEFT))]
    lasting = [line for line in noted if line.startswith(UNDECIDED) and NOT_AT_WORK not in line]
    if state.phase == "left alone":
        why = (noted or state.notes or ("its threads were left alone",))[-1]
        return why.removeprefix(UNDECIDED)
    if lasting:
        return lasting[-1].removeprefix(UNDECIDED)
    length = length or f"{state.waited_ns / 1e9:.1f} s"
    watched = f"in the {length} that the program was watched"
    if state.phase in ("settling", "sampling"):
        return (
            f"the program was watched for {length}, and ended before its sample was complete; "
            f"{_REMEDY}"
        )
    if state.most_computing < 2:
        return f"fewer than two threads computed at once {watched}"
    if state.most_computing < promised:
        return (
            f"{promised} threads were promised, and at most {state.most_computing} computed at "
            f"once {watched}; {_REMEDY}"
        )
    if WAITED in state.notes:
        return f"it waited when it was sampled, and was not sampled to the end {watched}"
    return f"threads never stayed the same for long enough to be sampled {watched}; {_REMEDY}"


def reason_on_record(run: RunRecord, *, alive: bool) -> str:
    """Reason why a run has no decision; empty where it has one."""
    left = [line for line in run.notes.splitlines() if line.startswith(LEFT)]
    if left and run.hint is None:
        return left[-1]
    noted = [line for line in run.notes.splitlines() if line.startswith(UNDECIDED)]
    if noted:
        return noted[-1].removeprefix(UNDECIDED)
    if alive:
        undecided = run.hint is None or (run.phase in _YET and not run.sample)
        return _YET.get(run.phase, "") if undecided else ""
    if run.hint is not None or run.bound:
        return ""
    if run.ended is None:
        return "its monitor ended before the program, for an unknown reason"
    return run.notes.splitlines()[-1] if run.notes else "no reason was recorded"
