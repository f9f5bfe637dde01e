#!/usr/bin/env python3
"""Time in which the Python API decides a table of samples, beside the same rules by hand in numpy.

usage: scripts/bench/decide_many.py [--rows 100000] [--repeats 9]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import autofinity as af

USUAL = {"instructions": 1e9, "llc_requests": 5e7, "cache_to_cache_transfers_other_llc": 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9)
    args = parser.parse_args()
    draw = np.random.default_rng(1)
    first, second, trial = (
        pd.DataFrame({name: draw.uniform(0.7, 1.5, args.rows) * at for name, at in USUAL.items()})
        for _ in range(3)
    )
    policy = af.load_policy("any-machine")
    ways: dict[str, Callable[[], object]] = {
        "first look": lambda: policy.decide(first),
        "all looks": lambda: policy.decide(first, second=second, trial=trial),
        "all looks, by hand": lambda: by_hand(first, second, trial),
        "all looks, 100 rows one by one": lambda: [
            policy.decide(one, second=two, trial=three)
            for one, two, three in zip(
                *(table.head(100).to_dict("records") for table in (first, second, trial)),
                strict=True,
            )
        ],
    }
    for name, way in ways.items():
        print(f"{name}: {1e3 * best_s(way, args.repeats):.2f} ms")


def by_hand(first: pd.DataFrame, second: pd.DataFrame, trial: pd.DataFrame) -> object:
    """The arithmetic of two ratios, three rules and a trial, with nothing checked."""
    speed, requests, lines = (first[name].to_numpy() for name in USUAL)
    share, rate = lines / requests, 1e3 * requests / speed
    answer = np.where(((share <= 0.002) & (rate <= 37)) | ((share <= 0.039) & (rate > 37)), 0, 7)
    packed, between = second["instructions"].to_numpy(), trial["instructions"].to_numpy()
    gain = packed / speed
    answer = np.where(gain <= 0.93, 0, answer)
    reference = np.where(answer == 0, speed, np.maximum(packed, speed))
    return np.where((gain > 0.91) & (gain <= 1.4) & (between / reference > 1.01), 4, answer)


def best_s(way: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        way()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
