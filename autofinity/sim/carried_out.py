"""Actions on a simulated process, one after the other, and the sum of what came of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autofinity.model.placement import Placement
from autofinity.ports import Action, BindThreads, MovePages, Outcome, SpendTime


def carried_out(
    actions: Sequence[Action],
    bind: Callable[[Placement], int],
    move: Callable[[MovePages], tuple[int, int]],
    spend: Callable[[str, int, int], None],
) -> Outcome:
    """Carry actions out: `bind` gives the number of threads, `move` the number of pages and the
    nanoseconds to copy them, `spend` takes a kind, nanoseconds and the thread that spends them.

    `cost_ns` is the time to copy the pages. The thread named in `MovePages` spends that time;
    otherwise a thread outside the program does.
    """
    done = skipped = cost_ns = 0
    reasons: list[str] = []
    for action in actions:
        if isinstance(action, BindThreads):
            done += bind(action.placement)
        elif isinstance(action, SpendTime):
            spend(action.kind, action.duration_ns, action.thread)
            done += 1
        else:
            moved, ns = move(action)
            done, cost_ns = done + moved, cost_ns + ns
            if action.thread is not None:
                spend("page copy", ns, action.thread)
            if moved < len(action.pages):
                skipped += len(action.pages) - moved
                reasons.append("pages that were untouched or there already did not move")
    return Outcome(done, skipped, tuple(dict.fromkeys(reasons)), cost_ns)
