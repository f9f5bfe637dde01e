"""Labels of a classifier as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autofinity.model.affinity import Hint
from autofinity.model.errors import UnknownHintError


def shown_labels(classes: Sequence[Any]) -> dict[Any, str]:
    """The text of each label: of hints name and letters, where all labels are hints."""
    try:
        return {each: Hint.parse(each).shown for each in classes}
    except UnknownHintError:
        return {each: str(each) for each in classes}
