"""Streams of addresses of one thread, the same everywhere: (line, whether it is a store).

`tests/golden/pycachesim.json` holds the counts of pycachesim for them; its last-level cache has
2048 lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

type Stream = list[tuple[int, bool]]

LINES = 4096


def _random(seed: int) -> Iterator[int]:
    """Numbers below 2**31: the minimal standard generator (Park & Miller, CACM 1988)."""
    while True:
        seed = seed * 48271 % 0x7FFFFFFF
        yield seed


def _update(line: int) -> Stream:
    return [(line, False), (line, True)]


def sequential() -> Stream:
    return [(line, False) for _ in range(3) for line in range(LINES)]


def sequential_within_the_llc() -> Stream:
    return [(line, False) for _ in range(6) for line in range(1500)]


def strided() -> Stream:
    return [(line, False) for stride in (3, 16, 64) for line in range(0, 4 * LINES, stride)]


def uniform() -> Stream:
    numbers = _random(1)
    return [(next(numbers) % LINES, False) for _ in range(12_000)]


def matrix_product() -> Stream:
    """Loads of A and B in the first rows of A·B, row-major doubles, 64 columns."""
    n, in_a_line = 64, 8
    b = n * n // in_a_line
    return [
        (line, False)
        for i in (0, 8, 16)
        for j in range(n)
        for k in range(n)
        for line in ((i * n + k) // in_a_line, b + (k * n + j) // in_a_line)
    ]


def update_in_place() -> Stream:
    return [access for _ in range(3) for line in range(3000) for access in _update(line)]


EXACT: tuple[Callable[[], Stream], ...] = (
    sequential,
    sequential_within_the_llc,
    strided,
    uniform,
    matrix_product,
    update_in_place,
)
"""Streams on which two correct simulators of three inclusive levels cannot differ."""


def uniform_stores() -> Stream:
    """Stores without a load before them."""
    numbers = _random(11)
    return [(next(numbers) % 700, next(numbers) % 10 < 3) for _ in range(12_000)]


def hot_and_cold() -> Stream:
    """Four lines that are used all the time while all others are used once: the L1 keeps them, and
    an L2 that sees only L1 misses takes them for old.
    """
    return [access for line in range(LINES) for access in [(line, False), (line % 4, False)]]


def uniform_updates() -> Stream:
    """A third of the lines are loaded and stored to, the others loaded."""
    numbers = _random(7)
    stream: Stream = []
    for _ in range(8_000):
        line = next(numbers) % LINES
        stream += _update(line) if next(numbers) % 3 == 0 else [(line, False)]
    return stream


EXPLAINED = (uniform_updates, uniform_stores, hot_and_cold)
"""Streams on which simulators differ for a known reason."""
