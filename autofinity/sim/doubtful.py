"""Errors of sampled replays above which windows do not stand for a program, and what to do then."""

from __future__ import annotations

DOUBTFUL = 0.1
"""Relative standard error of the time above which the time is in doubt."""


def remedy(error: float) -> str | None:
    """Return the remedy for such a standard error; None: none is needed."""
    if not error > DOUBTFUL:
        return None
    return (
        f"windows do not stand for a program with an error above {100 * DOUBTFUL:.0f} %: take a "
        "size that is captured whole, such as medium, or simulate a trace captured with --whole"
    )
