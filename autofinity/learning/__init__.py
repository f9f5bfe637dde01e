"""From observations to rules.

The bins and the learners are estimators in scikit-learn's style, imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autofinity.learning.baseline_classifier import BaselineClassifier
    from autofinity.learning.discretiser import Discretiser
    from autofinity.learning.jrip_classifier import JRipClassifier
    from autofinity.learning.regret_classifier import RegretClassifier
    from autofinity.learning.ripper_classifier import RipperClassifier

__all__ = [
    "BaselineClassifier",
    "Discretiser",
    "JRipClassifier",
    "RegretClassifier",
    "RipperClassifier",
]
_HOMES = {
    "BaselineClassifier": "baseline_classifier",
    "Discretiser": "discretiser",
    "JRipClassifier": "jrip_classifier",
    "RegretClassifier": "regret_classifier",
    "RipperClassifier": "ripper_classifier",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
