"""Sharing matrices of known patterns, for the mappers' tables and times."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from autofinity.model.sharing import SharingMatrix

STAGES = 4


def of_pairs(threads: int, amount: Callable[[int, int], float]) -> SharingMatrix:
    """A matrix with `amount(i, j)` for each i > j."""
    cells = [[0.0] * threads for _ in range(threads)]
    for i in range(threads):
        for j in range(i):
            cells[i][j] = cells[j][i] = float(amount(i, j))
    return SharingMatrix(tuple(map(tuple, cells)))


def patterns(threads: int, seed: int = 1) -> Mapping[str, SharingMatrix]:
    """Name → matrix. `neighbours, shuffled` and all `random` matrices are made with the random
    `seed`.
    """
    draw = random.Random(seed)
    number = list(range(threads))
    draw.shuffle(number)

    def pipeline(i: int, j: int) -> float:
        """Stages of one pipeline have consecutive numbers."""
        return float(i // STAGES == j // STAGES and i - j == 1)

    def stage_groups(i: int, j: int) -> float:
        """Threads of one stage share much, those of the next one some."""
        apart = abs(i * 2 * STAGES // threads - j * 2 * STAGES // threads)
        return {0: 4.0, 1: 1.0}.get(apart, 0.0)

    return {
        "neighbours": of_pairs(threads, lambda i, j: i - j == 1),
        "neighbours, shuffled": of_pairs(threads, lambda i, j: abs(number[i] - number[j]) == 1),
        "pipelines": of_pairs(threads, pipeline),
        "stages": of_pairs(threads, stage_groups),
        "all to all": of_pairs(threads, lambda i, j: 1),
        "all to all, uneven": of_pairs(threads, lambda i, j: 10 + draw.random()),
        "random": of_pairs(threads, lambda i, j: draw.random()),
        "random, sparse": of_pairs(threads, lambda i, j: draw.random() < 4 / threads),
    }
