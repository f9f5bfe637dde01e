"""Parts of WEKA that ours are compared with: its filters and its ranking of attributes.

WEKA is GPLv3. Beside `autofinity/learning/weka.py` this is the only file that names its classes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from autofinity.learning.weka import Matrix, _instances, _java_errors, _weka


def cfs_ranking(values: Matrix, target: npt.NDArray[np.float64]) -> list[tuple[int, float]]:
    """CfsSubsetEval with GreedyStepwise in ranking mode.

    Columns in order of choice, with merits. `values` is n × columns, `target` the n values to
    predict; NaN is a missing value. The merit of entry i is that of the subset of the first i + 1
    columns.
    """
    weka = _weka()
    with _java_errors("CfsSubsetEval"):
        names = [f"c{i}" for i in range(values.shape[1])]
        attributes = [weka.core.Attribute(name) for name in (*names, "target")]
        data = _instances(weka, attributes, np.column_stack([values, target]), None)
        data.setClassIndex(len(names))
        evaluator = weka.attributeSelection.CfsSubsetEval()
        evaluator.buildEvaluator(data)
        search = weka.attributeSelection.GreedyStepwise()
        search.setGenerateRanking(True)
        search.search(evaluator, data)
        return [(int(index), float(merit)) for index, merit in search.rankedAttributes()]


def discretize(
    values: npt.NDArray[np.float64], bins: int, find_bins: bool, equal_frequency: bool
) -> tuple[float, ...]:
    """Cut points of WEKA's unsupervised Discretize filter on one column."""
    weka = _weka()
    with _java_errors("Discretize"):
        data = _instances(weka, [weka.core.Attribute("c0")], values.reshape(-1, 1), None)
        discretizer = weka.filters.unsupervised.attribute.Discretize()
        discretizer.setBins(bins)
        discretizer.setFindNumBins(find_bins)
        discretizer.setUseEqualFrequency(equal_frequency)
        discretizer.setInputFormat(data)
        weka.filters.Filter.useFilter(data, discretizer)
        cuts = discretizer.getCutPoints(0)
        return () if cuts is None else tuple(float(cut) for cut in cuts)


def jrip_options(seed: int | None) -> list[str]:
    """Options of a JRip with this seed, or with WEKA's own."""
    learner = _weka().classifiers.rules.JRip()
    if seed is not None:
        learner.setSeed(seed)
    return [str(option) for option in learner.getOptions()]
