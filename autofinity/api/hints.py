"""Hints and affinities, and conversion of arguments to hints."""

from __future__ import annotations

from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.errors import UsageError

__all__ = ["HINTS", "Affinity", "Hint", "as_hint"]


def as_hint(hint: Hint | str) -> Hint:
    """The given hint, or the hint of this name or these letters. Raises `UsageError`, which names
    all eight.
    """
    if isinstance(hint, Hint):
        return hint
    if not isinstance(hint, str):
        raise UsageError(
            f"got {hint!r:.60} as hint; expected a hint, its name or its letters: "
            + ", ".join(each.shown for each in HINTS)
        )
    try:
        return Hint.parse(hint)
    except ValueError as error:
        raise UsageError(str(error)) from None
