"""Programs of a few events whose counts are worked out by hand, a file for each group of events.

A new event needs a case here in which it is not zero; the comments derive the answer from the
geometry that `hand_machine` lists.
"""

from __future__ import annotations

from counter_case import CASES

from counter_cases import (
    caches,
    coherence,
    memory,
    pipeline,
    prefetch,
    shared_l2,
    synchronisation,
    translation,
)

__all__ = [
    "CASES",
    "caches",
    "coherence",
    "memory",
    "pipeline",
    "prefetch",
    "shared_l2",
    "synchronisation",
    "translation",
]
