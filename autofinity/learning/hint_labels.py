"""Labels of estimators: a hint's name and its letters are the same label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autofinity.model.affinity import Hint


def code_of(label: object, classes: Sequence[object]) -> int | None:
    """Position of a label among the labels of an estimator; None: the estimator has no such label.

    Where no label is equal, the name of a hint stands for the hint's letters, and letters for the
    name.
    """
    for code, known in enumerate(classes):
        if known == label:
            return code
    hint = _hint(label)
    if hint is None:
        return None
    return next((code for code, known in enumerate(classes) if _hint(known) == hint), None)


def shown_labels(classes: Sequence[Any]) -> dict[Any, str]:
    """Each label as people read it: hints with name and letters, where all labels are hints."""
    hints = {each: _hint(each) for each in classes}
    if all(hints.values()):
        return {each: hint.shown for each, hint in hints.items() if hint is not None}
    return {each: str(each) for each in classes}


def _hint(label: object) -> Hint | None:
    try:
        return label if isinstance(label, Hint) else Hint.parse(str(label))
    except ValueError:
        return None
