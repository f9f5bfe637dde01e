"""Prints which core Python has loaded, and a digest of what it counts in replays of many kinds.

python replay_digest.py
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Iterator

from mixed_program import mixed_program

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.spec import CacheSpec, DirectorySpec, MachineSpec

PRESETS = ("opteron-6164he", "xeon-x7550", "xeon-e5-2650", "epyc-9654")
THREADS = 8
WAYS = ((16, 48), (16, 15), (15, 16), (12, 64), (32, 20))  # of L2 and LLC


def main() -> None:
    digest = hashlib.sha256()
    for spec in machines():
        for trace in (mixed_program(rounds=100), scattered()):
            run = core.Simulation(
                machine_model(spec), core.Program(trace), [4 * i for i in range(THREADS)]
            )
            run.run()
            run.check()
            digest.update(run.totals().tobytes())
    print(core.INSTRUCTION_SET, digest.hexdigest())


def machines() -> Iterator[MachineSpec]:
    """As they are, and with caches of few sets, in which everything is evicted all the time."""
    for name in PRESETS:
        spec = load_preset(name)
        yield spec
        for l2_ways, llc_ways in WAYS:
            kinds = tuple(
                dataclasses.replace(kind, l2=few_sets(kind.l2, l2_ways) if kind.l2 else None)
                for kind in spec.core_classes
            )
            directory = DirectorySpec(64, 16) if spec.directory else None
            yield dataclasses.replace(
                spec, core_classes=kinds, llc=few_sets(spec.llc, llc_ways), directory=directory
            )


def few_sets(cache: CacheSpec, ways: int) -> CacheSpec:
    return dataclasses.replace(cache, size_bytes=3 * ways * 64, ways=ways)


def scattered() -> Trace:
    """Every thread all over the same lines, near and far, read and written."""
    rng = random.Random(11)
    builder = TraceBuilder()
    for _ in range(THREADS):
        builder.stream()
    for stream in range(THREADS):
        for _ in range(1500):
            line = 1 << 20 | rng.randrange(rng.choice((60, 600, 6000)))
            writes = rng.randrange(2)
            builder.access(stream, line, 1 + rng.randrange(2), writes, gap=9, span=4)
    return builder.build()


if __name__ == "__main__":
    main()
