"""Weights of the rows of an action table when rules are learned."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from autofinity.learning.action_frame import consequences_of
from autofinity.learning.settings import Weighting

type Floats = npt.NDArray[np.float64]


def row_weights(table: pd.DataFrame, weighting: Weighting) -> Floats:
    """One weight for each row.

    * `observations`: number of times that the behaviour was observed.
    * `stake`: that number times the possible loss: the best consequence minus the worst, divided by
      the larger magnitude. Weights are scaled to the same mean, so that a learner's least weight of
      a rule keeps its meaning. Behaviours for which all hints are equally good have no influence.
    * `none`: every row weighs 1, as figure 6 writes each behaviour once for each affinity.
    """
    if weighting == "none" or len(table) == 0:
        return np.ones(len(table))
    observed: Floats = table["weight"].to_numpy()
    if weighting == "observations":
        return observed
    consequences = consequences_of(table)
    best, worst = np.nanmax(consequences, axis=1), np.nanmin(consequences, axis=1)
    magnitude = np.maximum(np.abs(best), np.abs(worst))
    stake = (best - worst) / np.where(magnitude > 0, magnitude, 1.0)
    weights = observed * stake
    if not weights.sum() > 0:
        return observed
    weights *= observed.sum() / weights.sum()
    return weights
