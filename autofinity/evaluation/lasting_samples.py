"""Samples that detectors take in a run of very many repeats, of which a few are replayed.

A page that has a few long loads a repeat is sampled once in hundreds of repeats, so the samples of
a few repeats show few of the pages that the samples of a minute show. Therefore the replay is
sampled more densely, at the same cost in all, and each of its samples counts for as much less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from autofinity.model.detection import AccessSampling, Detector, RemoteAccesses
from autofinity.model.errors import CapabilityError
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.ports import Interval

SAMPLE = "sample"
"""Kind of overhead."""

type _Floats = npt.NDArray[np.float64]


def denser(detectors: Sequence[Detector], times: int) -> tuple[Detector, ...]:
    """So many times as many samples, at the same cost in all. Raises `CapabilityError` for a
    detector that does not sample.
    """
    return tuple(_denser(each, times) for each in detectors)


def _denser(detector: Detector, times: int) -> Detector:
    if not isinstance(detector, AccessSampling | RemoteAccesses):
        raise CapabilityError(f"{type(detector).__name__}: expected a detector that samples")
    period = max(1, detector.period // times)
    return replace(detector, period=period, sample_ns=detector.sample_ns * period / detector.period)


class LastingSamples:
    """Samples by the detectors of a process of repeats."""

    def __init__(self, denser: int) -> None:
        """Each sample of the replay counts for one in so many."""
        self._weight = 1 / denser
        self._repeats = 0.0
        """Replayed since the last move."""
        self._sharing = _Sums()
        """[threads x threads], since the last `take`."""
        self._like: NumaVectors | None = None
        """Without pages; None without a detector of pages."""
        self._replayed: dict[int, tuple[int, ...]] = {}
        """Page → its vector in the replay."""
        self._nodes: dict[int, int] = {}
        self._numbers: list[int] = []
        self._rows: dict[int, int] = {}
        """Page → its place in `_numbers`, and row of the vectors."""
        self._vectors = _Sums()
        """[pages x nodes], since the program began."""
        self._taken = np.zeros((0, 0), np.int64)
        """The vectors when they were last taken."""

    def moved(self) -> None:
        """Threads or pages are elsewhere from now on."""
        self._repeats = 0.0
        self._sharing.replay_again()
        self._vectors.replay_again()

    def replayed(self, interval: Interval, repeats: float) -> None:
        """Count the samples of an interval of the replay."""
        self._repeats += repeats
        if interval.sharing is not None:
            self._sharing.add(self._weight * np.array(interval.sharing.cells))
        if interval.pages is not None:
            self._vectors.add(self._weight * self._new(interval.pages))

    def played(self, repeats: float) -> None:
        """Count the samples of so many repeats that are not replayed: as many in each as since the
        last move.
        """
        if self._repeats:
            self._sharing.again(repeats / self._repeats)
            self._vectors.again(repeats / self._repeats)

    def take(self) -> tuple[SharingMatrix | None, NumaVectors | None]:
        """Sharing since the last call, and the pages that had samples since, as an interval has
        them; None without detectors.
        """
        sharing = self._sharing.take()
        matrix = SharingMatrix(tuple(map(tuple, sharing.tolist()))) if sharing.size else None
        return matrix, self._like and self._taken_pages(self._like)

    def _new(self, pages: NumaVectors) -> _Floats:
        """Samples of the pages in an interval of the replay, [pages x nodes]."""
        self._like = replace(pages, pages={}, nodes={})
        for page in pages.pages:
            if page not in self._rows:
                self._rows[page] = len(self._numbers)
                self._numbers.append(page)
        width = max(map(len, pages.pages.values()), default=0)
        new = np.zeros((len(self._numbers) if width else 0, width))
        for page, vector in pages.pages.items():
            new[self._rows[page]] = np.subtract(vector, self._replayed.get(page, 0))
        self._replayed.update(pages.pages)
        self._nodes.update(pages.nodes)
        return new

    def _taken_pages(self, like: NumaVectors) -> NumaVectors:
        now = np.floor(self._vectors.sums).astype(np.int64)
        before, self._taken = _padded(self._taken, now.shape), now
        rows = np.flatnonzero((now != before).any(axis=1)).tolist()
        found = {self._numbers[row]: tuple(now[row].tolist()) for row in rows}
        nodes = {page: self._nodes[page] for page in found if page in self._nodes}
        return replace(like, pages=found, nodes=nodes)


class _Sums:
    """Sums that grow by what is replayed, and by the same again."""

    def __init__(self) -> None:
        self.sums: _Floats = np.zeros((0, 0))
        self._replayed: _Floats = np.zeros((0, 0))

    def add(self, new: _Floats) -> None:
        if new.size:
            self.sums = _padded(self.sums, new.shape)
            self._replayed = _padded(self._replayed, new.shape)
            self.sums[: len(new)] += new
            self._replayed[: len(new)] += new

    def again(self, times: float) -> None:
        if self._replayed.size:
            self.sums[: len(self._replayed)] += times * self._replayed

    def replay_again(self) -> None:
        self._replayed = np.zeros((0, 0))

    def take(self) -> _Floats:
        taken, self.sums = self.sums, np.zeros_like(self.sums)
        return taken


def _padded[Number: np.float64 | np.int64](
    array: npt.NDArray[Number], shape: tuple[int, ...]
) -> npt.NDArray[Number]:
    """With more rows, of zeros, where `shape` has more."""
    if len(array) >= shape[0]:
        return array
    padded = np.zeros(shape, array.dtype)
    if array.size:
        padded[: len(array)] = array
    return padded
