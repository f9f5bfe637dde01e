"""autofinity: learns where threads and memory should sit on a NUMA machine, and puts them there.

`import autofinity as af` gives the names below, which stay as they are from release to release
(docs/python.md); sub-packages may change. Nothing is loaded before it is used. `__init__.pyi`
declares the same names for type checkers.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder

__version__ = "0.1.0"

_FACE = {
    "api.compared": ("Compared", "compare"),
    "api.estimated": ("policy_of",),
    "api.evaluated": ("Evaluation", "evaluate"),
    "api.explained": ("Explanation",),
    "api.hints": ("HINTS", "Affinity", "Hint"),
    "api.learned": ("learn", "train"),
    "api.machines": ("Machine", "machine", "machines"),
    "api.mapped": ("MappedThreads", "map_threads"),
    "api.observed": ("observations", "profile"),
    "api.placed": ("PlacedThreads", "get_affinity"),
    "api.policies": ("Policy", "load_policy", "policies"),
    "api.shared": ("Sharing", "detect_sharing"),
    "api.simulated": ("PolicyRun", "Simulation", "simulate", "simulate_policy"),
    "api.traces": ("Trace", "capture_program", "capture_traces", "load_trace"),
    "api.training_data": ("TrainingData", "action_table", "training_data"),
    "learning.baseline_classifier": ("BaselineClassifier",),
    "learning.jrip_classifier": ("JRipClassifier",),
    "learning.regret_classifier": ("RegretClassifier",),
    "learning.ripper_classifier": ("RipperClassifier",),
    "model.errors": ("AutofinityError",),
    "reporter": ("Reporter",),
}
"""Module → its names. No name is that of a sub-package, which would replace it once imported."""
_HOMES = {name: module for module, names in _FACE.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """A public name, from the module that defines it, which is loaded now."""
    if name not in _HOMES:
        raise AttributeError(f"module 'autofinity' has no attribute {name!r}")
    value: object = getattr(import_module(f"autofinity.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for interactive use."""
    return [*__all__, "__version__"]


_core_found = PathFinder.find_spec(f"{__name__}._core", __path__)
if _core_found is None or _core_found.origin is None:
    # The folder of a clone: `import` found this folder before the installed package.
    from autofinity.source_folder import stand_in

    stand_in(sys.modules[__name__])
