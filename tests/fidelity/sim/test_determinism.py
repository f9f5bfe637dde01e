"""The same input gives the same bits, however many threads or processes share the work."""

from __future__ import annotations

import multiprocessing
import random
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from replay_bits import AFFINITIES, Bits, bits


@pytest.fixture(scope="module")
def one_by_one() -> list[Bits]:
    return [bits(affinity) for affinity in AFFINITIES]


def swept(pool: Executor, order: list[int]) -> list[Bits]:
    """A sweep in this order; results in the order of `AFFINITIES`."""
    found = dict(zip(order, pool.map(bits, [AFFINITIES[i] for i in order]), strict=True))
    return [found[i] for i in range(len(AFFINITIES))]


def test_affinities_differ_and_repetitions_do_not(one_by_one: list[Bits]) -> None:
    assert len(set(one_by_one)) == len(AFFINITIES)
    assert [bits(affinity) for affinity in AFFINITIES] == one_by_one


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_worker_threads_and_the_order_of_a_sweep_change_no_bit(
    threads: int, one_by_one: list[Bits]
) -> None:
    order = list(range(len(AFFINITIES)))
    random.Random(threads).shuffle(order)
    with ThreadPoolExecutor(threads) as pool:
        assert swept(pool, order) == one_by_one


def test_worker_processes_change_no_bit(one_by_one: list[Bits]) -> None:
    order = list(reversed(range(len(AFFINITIES))))
    # As autofinity's own campaigns: a child of fork inherits what threads of the parent hold.
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert swept(pool, order) == one_by_one
