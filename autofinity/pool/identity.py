"""Everything of an installation that decides the bits of a result, to compare two machines by."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache

import numpy as np

from autofinity import __version__
from autofinity.own_code import digest_of_code

_CODE = (
    *("affinity", "detect", "evaluation", "mapping", "mechanisms", "model", "policy", "pool"),
    *("profiling", "runtime", "sim", "trace", "workflow", "ports.py"),
)


@cache
def identity() -> Mapping[str, str]:
    """Name of a part of this installation → its version, or the digest of its code."""
    return {
        "autofinity": __version__,
        "autofinity's code": digest_of_code(*_CODE).hex()[:12],
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
    }


def difference(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """Text with the parts that differ, "PART THEIRS there and OURS here"; empty where none does."""
    return ", ".join(
        f"{part} {theirs.get(part, 'unknown')} there and {version} here"
        for part, version in ours.items()
        if theirs.get(part) != version
    )
