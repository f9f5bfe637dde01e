"""Edges that are known before learning.

A program that ran slower in a second look than at the start, by more than a tie, must not stay
there, and one that ran as fast or faster may stay. The programs of the training set leave that edge
open: few of them are about as fast in both places, and those lose little by a wrong answer.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from autofinity.learning.hint_losses import TIE
from autofinity.model.ratios import SPEED_GAIN

type Floats = npt.NDArray[np.float64]

PAR = 1 / (1 + TIE)
"""Least `speed_gain` that counts as equally fast."""


def with_known_edge(cuts: tuple[float, ...], values: Floats) -> tuple[float, ...]:
    """Cut points of `SPEED_GAIN`, and `PAR` in place of those that no value separates from it.

    Without values on both sides of `PAR` the cut points stay.
    """
    below, above = values[values <= PAR], values[values > PAR]
    if not len(below) or not len(above):
        return cuts
    return tuple(sorted({PAR, *(at for at in cuts if not below.max() <= at < above.min())}))


def known_edges(cuts: Mapping[str, tuple[float, ...]]) -> dict[int, int]:
    """Last bin below the known edge, by the place of its feature in `cuts`."""
    return {
        place: at.index(PAR)
        for place, (name, at) in enumerate(cuts.items())
        if name == SPEED_GAIN and PAR in at
    }
