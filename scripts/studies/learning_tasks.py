"""Data sets on which learners are compared: built in, generated, and in WEKA's jar."""

from __future__ import annotations

import importlib.util
import itertools
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn import datasets

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Rows to be classified."""

    values: Floats
    """n × features; NaN is missing."""
    names: tuple[int | None, ...]
    """By feature: how many nominal values it has, coded from 0; None for a number."""
    labels: Ints
    """n, coded from 0."""

    @property
    def nominal(self) -> list[bool]:
        """Which features are nominal."""
        return [count is not None for count in self.names]


def _numbers(values: Floats, labels: Ints) -> Task:
    return Task(np.asarray(values, float), (None,) * values.shape[1], np.asarray(labels, int))


def _names(values: Ints, counts: tuple[int, ...], labels: Ints) -> Task:
    return Task(values.astype(float), counts, labels.astype(int))


def _separate(features: int, classes: int, **more: float) -> Callable[[], Task]:
    return lambda: _numbers(
        *datasets.make_classification(
            1000,
            features,
            n_informative=features // 2,
            n_classes=classes,
            random_state=1,
            **more,
        )
    )


def _hastie() -> Task:
    values, sign = datasets.make_hastie_10_2(1500, random_state=1)
    return _numbers(values, sign > 0)


def _missing() -> Task:
    """A fifth of all values unknown."""
    whole = _separate(8, 3, class_sep=1.5)()
    values = whole.values.copy()
    values[np.random.default_rng(1).random(values.shape) < 0.2] = np.nan
    return Task(values, whole.names, whole.labels)


def _waveform() -> Task:
    """Breiman et al. 1984, section 2.6.2: three mixtures of two of three triangles, with noise."""
    draw = np.random.default_rng(1)
    place = np.arange(1, 22)
    waves = [np.maximum(6 - np.abs(place - peak), 0) for peak in (11, 15, 7)]
    pairs = ((0, 1), (0, 2), (1, 2))
    labels = draw.integers(0, 3, 1500)
    share = draw.random(1500)[:, None]
    first = np.array([waves[a] for a, _ in pairs])[labels]
    second = np.array([waves[b] for _, b in pairs])[labels]
    return _numbers(share * first + (1 - share) * second + draw.normal(size=(1500, 21)), labels)


def _led() -> Task:
    """Breiman et al. 1984, section 2.6.1: digits of seven lamps, each lamp wrong in one of ten
    cases, and 17 lamps without meaning.
    """
    lamps = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
    draw = np.random.default_rng(1)
    digits = np.array([[int(lit) for lit in lamp] for lamp in lamps.split()])
    labels = draw.integers(0, 10, 1500)
    seen = digits[labels] ^ (draw.random((1500, 7)) < 0.1)
    return _names(np.column_stack([seen, draw.integers(0, 2, (1500, 17))]), (2,) * 24, labels)


def _monks(number: int) -> Task:
    """Thrun et al. 1991, all 432 robots; the third problem with 5 % of the labels wrong."""
    counts = (3, 3, 2, 3, 4, 2)
    rows = np.array(list(itertools.product(*map(range, counts))))
    if number == 1:
        yes = (rows[:, 0] == rows[:, 1]) | (rows[:, 4] == 0)
    elif number == 2:
        yes = (rows == 0).sum(axis=1) == 2
    else:
        yes = ((rows[:, 4] == 2) & (rows[:, 3] == 0)) | ((rows[:, 4] != 3) & (rows[:, 1] != 2))
        yes ^= np.random.default_rng(1).random(432) < 0.05
    return _names(rows, counts, yes.astype(int))


def _credit() -> Task:
    """German credit: 13 nominal and 7 numeric features, from WEKA's jar."""
    found = importlib.util.find_spec("weka")
    assert found is not None and found.submodule_search_locations is not None
    jar = Path(found.submodule_search_locations[0]) / "lib" / "weka.jar"
    with zipfile.ZipFile(jar) as archive:
        text = archive.read("weka/gui/knowledgeflow/templates/credit-g.arff").decode()
    head, body = re.split(r"(?im)^@data\s*$", text)
    counts: list[int | None] = []
    codes: list[Mapping[str, float]] = []
    for line in re.findall(r"(?im)^@attribute\s+(.*)$", head):
        values = re.search(r"\{(.*)\}", line)
        listed = [value.strip(" '\"") for value in values[1].split(",")] if values else []
        counts.append(len(listed) if values else None)
        codes.append({value: float(code) for code, value in enumerate(listed)})
    rows = [
        [
            code[word.strip(" '\"")] if code else float(word)
            for code, word in zip(codes, line.split(","), strict=True)
        ]
        for line in body.splitlines()
        if line.strip() and not line.startswith("%")
    ]
    table = np.array(rows)
    return Task(table[:, :-1], tuple(counts[:-1]), table[:, -1].astype(int))


TASKS: Mapping[str, Callable[[], Task]] = {
    "iris": lambda: _numbers(*datasets.load_iris(return_X_y=True)),
    "wine": lambda: _numbers(*datasets.load_wine(return_X_y=True)),
    "breast-cancer": lambda: _numbers(*datasets.load_breast_cancer(return_X_y=True)),
    "digits": lambda: _numbers(*datasets.load_digits(return_X_y=True)),
    "credit-g": _credit,
    "moons": lambda: _numbers(*datasets.make_moons(1000, noise=0.3, random_state=1)),
    "circles": lambda: _numbers(
        *datasets.make_circles(1000, noise=0.15, factor=0.5, random_state=1)
    ),
    "blobs": lambda: _numbers(
        *datasets.make_blobs(1000, 4, centers=6, cluster_std=3.0, random_state=1)
    ),
    "gaussian-quantiles": lambda: _numbers(
        *datasets.make_gaussian_quantiles(n_samples=1000, n_features=4, random_state=1)
    ),
    "hastie": _hastie,
    "separable, 4 classes": _separate(10, 4, class_sep=1.5),
    "noisy, 2 classes": _separate(12, 2, flip_y=0.2),
    "rare classes": _separate(8, 4, class_sep=2.0, weights=[0.7, 0.2, 0.07]),
    "missing values": _missing,
    "waveform": _waveform,
    "led-24": _led,
    "monks-1": lambda: _monks(1),
    "monks-2": lambda: _monks(2),
    "monks-3": lambda: _monks(3),
}
