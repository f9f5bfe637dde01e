"""Hints and affinities, and how the face reads a hint."""

from __future__ import annotations

from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.errors import UsageError

__all__ = ["HINTS", "Affinity", "Hint", "as_hint"]


def as_hint(hint: Hint | str) -> Hint:
    """A hint, or the one of this name or these letters. Raises `UsageError` naming all eight."""
    if isinstance(hint, Hint):
        return hint
    try:
        return Hint.parse(hint)
    except ValueError as error:
        raise UsageError(str(error)) from None
