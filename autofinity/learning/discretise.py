"""Cut counters into bins: equal width (automatic number), equal frequency, or equal share.

Bins are (lower, upper]: bin 0 reaches down to −∞, the last one up to +∞, NaN belongs to none.

Source: paper, section 3.2 (five bins, WEKA's automatic number for equal width). The automatic
number minimises the leave-one-out estimate of a histogram's entropy, −Σ n·log((n − 1)/width), which
is infinite where a bin holds a single value. There are three variants, and a fixed number:

* `automatic`: as above; an empty bin adds nothing. The default.
* `weka-corrected`: as in WEKA 3.9.7 (`Discretize -O`), a histogram with an empty bin is refused,
  too. A counter whose values lie in two clumps, or that has a long tail, is then not cut at all:
  measured on a counter that alone separates two kinds of programs, no rule could be learned.
* `weka`: in addition WEKA's error, which chooses the number of bins with the right width for each
  number, but then cuts with the width of the *last* number tried, so that the last bin holds the
  whole rest of the range.
* `fixed`: always the requested number of bins.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from autofinity.learning.settings import BinNumber

type Floats = npt.NDArray[np.float64]


def equal_width(values: Floats, bins: int, number: BinNumber = "automatic") -> tuple[float, ...]:
    """Cuts of at most `bins` bins of equal width over the range of finite `values`."""
    if len(values) == 0:
        return ()
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return ()
    best, least = (bins, -math.inf) if number == "fixed" else (1, math.inf)
    for count in range(1, bins + 1):
        width = (high - low) / count
        entropy = _leave_one_out_entropy(values, low, width, count, as_weka=number != "automatic")
        if entropy < least:
            best, least = count, entropy
    width = (high - low) / (bins if number == "weka" else best)
    return _ascending([low + width * i for i in range(1, best)])


def _leave_one_out_entropy(
    values: Floats, low: float, width: float, count: int, *, as_weka: bool
) -> float:
    """Leave-one-out entropy; infinite when a bin holds a single value; `as_weka`, also when a bin
    is empty.

    Rounding may leave the largest value above the last edge; in WEKA that value is then in no bin.
    """
    edges = low + width * np.arange(1, count + as_weka)
    inside = np.bincount(np.searchsorted(edges, values, side="left"), minlength=count)[:count]
    if not as_weka:
        inside = inside[inside > 0]
    if bool((inside < 2).any()):
        return math.inf
    return -float(np.sum(inside * np.log((inside - 1) / width)))


def equal_frequency(values: Floats, bins: int) -> tuple[float, ...]:
    """Cuts half-way between neighbouring distinct values, so that bins hold about equally many.

    From below: the remaining values are divided equally among the remaining bins, and the cut is at
    the boundary between distinct values that comes nearest to that share (WEKA's rule, which the
    tests check).
    """
    if len(values) == 0:
        return ()
    distinct, counts = np.unique(values, return_counts=True)
    upto = np.cumsum(counts)
    boundaries = len(distinct) - 1  # boundary i lies between distinct[i] and distinct[i + 1]
    cuts: list[float] = []
    before = 0  # values below the last cut
    last = -1  # boundary of the last cut
    passed = -1  # boundary that was reached, but was worse than the one before it
    while len(cuts) < bins - 1:
        share = (len(values) - before) / (bins - len(cuts))
        reached = int(np.searchsorted(upto[:boundaries], before + share))
        reached = max(reached, last + 1, passed + 1)
        if reached >= boundaries:
            if boundaries - 1 > last:
                cuts.append(_between(distinct, boundaries - 1))
            break
        cut, passed = reached, -1
        short_of = share - (upto[reached - 1] - before) if reached - 1 > last else math.inf
        if short_of < upto[reached] - before - share:
            cut, passed = reached - 1, reached
        cuts.append(_between(distinct, cut))
        before, last = int(upto[cut]), cut
    return _ascending(cuts)


def equal_share(values: Floats, weights: Floats, bins: int) -> tuple[float, ...]:
    """Cuts so that bins hold about the same weight each.

    The method is that of `equal_frequency`, with rows of different weight (each program has the
    same weight, whatever its number of samples). Values are finite.
    """
    distinct, place = np.unique(values, return_inverse=True)
    upto = np.cumsum(np.bincount(place.ravel(), weights=weights, minlength=len(distinct)))
    if len(distinct) < 2:
        return ()
    shares = upto[-1] * np.arange(1, bins) / bins
    boundaries = np.minimum(np.searchsorted(upto, shares), len(distinct) - 2)
    return _ascending([_between(distinct, int(boundary)) for boundary in boundaries])


def _between(distinct: Floats, boundary: int) -> float:
    return float((distinct[boundary] + distinct[boundary + 1]) / 2)


def _ascending(cuts: list[float]) -> tuple[float, ...]:
    """Ascending cuts without repetitions, which rounding makes in a range of a few units in the
    last place.
    """
    return tuple(sorted(set(cuts)))


def bin_of(values: Floats, cuts: tuple[float, ...]) -> npt.NDArray[np.int64]:
    """Bin of each value, from 0; −1 for NaN."""
    bins = np.searchsorted(np.asarray(cuts, dtype=np.float64), values, side="left")
    return np.where(np.isnan(values), -1, bins).astype(np.int64)
