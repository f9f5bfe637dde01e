"""From observations to rules.

`RipperClassifier` is here too, for who has scikit-learn; nothing else of the room needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autofinity.learning.ripper_classifier import RipperClassifier

__all__ = ["RipperClassifier"]


def __getattr__(name: str) -> Any:
    """Import the estimator when it is asked for."""
    if name != "RipperClassifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autofinity.learning.ripper_classifier import RipperClassifier

    return RipperClassifier
