"""Digests of all counts of replays: a change of the simulator without effects keeps them.

    python scripts/tools/replay_digest.py [TRACE…] [--machine M]… [--hint H]… > before.tsv

A row of tab-separated values for each program, machine and hint: their names, the simulated time in
ns, and the digest. TRACEs are folders of `autofinity capture`; machines with fewer PUs than one has
threads are left out. Without any, two made-up programs are replayed, also on machines whose caches
are so small that everything is evicted all the time. The library that the core comes from is
printed on stderr. To compare: `diff before.tsv after.tsv`.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "support"))

from mixed_program import mixed_program

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder
from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import Hint
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import load_program, pus_of_streams, workers_of
from autofinity.sim.spec import CacheSpec, DirectorySpec, MachineSpec
from autofinity.trace.meta import read_meta

MACHINES = ("opteron-6164he", "xeon-x7550", "xeon-e5-2650", "epyc-9654")
HINTS = ("SLP", "slp")
PERIOD_NS = 100_000
THREADS = 8
"""Threads of the made-up programs."""
WAYS = ((16, 48), (16, 15), (15, 16), (12, 64), (32, 20))
"""Ways of L2 and LLC where they have few sets."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A program, and those of its streams that are workers."""

    name: str
    program: core.Program
    workers: Sequence[int]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("traces", metavar="TRACE", type=Path, nargs="*")
    parser.add_argument("--machine", action="append", help=f"default: {', '.join(MACHINES)}")
    parser.add_argument("--hint", action="append", help=f"default: {', '.join(HINTS)}")
    wanted = parser.parse_args()
    print(core.INSTRUCTION_SET, file=sys.stderr)
    specs = {name: load_preset(name) for name in wanted.machine or MACHINES}
    if not wanted.traces:
        specs |= {name: small for each in specs.values() for name, small in with_few_sets(each)}
    for run in captured(wanted.traces) if wanted.traces else made_up():
        for machine, spec in specs.items():
            if len(run.workers) > len(spec.topology.allowed):
                continue
            for hint in wanted.hint or HINTS:
                print(run.name, machine, hint, *replayed(run, spec, hint), sep="\t", flush=True)


def replayed(run: Replayed, spec: MachineSpec, hint: str) -> tuple[int, str]:
    """Simulated time in ns, and the digest of all counts, at the end and by sample period."""
    cpus = get_affinity(spec.topology, len(run.workers), Hint.parse(hint)).cpus
    pus = pus_of_streams(spec.topology, run.program.streams, cpus, run.workers)
    simulation = core.Simulation(machine_model(spec), run.program, pus, sample_period_ns=PERIOD_NS)
    simulation.run()
    simulation.check()
    counted = (simulation.totals(), *simulation.samples())
    digest = hashlib.sha256(b"".join(each.tobytes() for each in counted)).hexdigest()[:16]
    return round(simulation.elapsed_ns), digest


def captured(folders: Sequence[Path]) -> Iterator[Replayed]:
    """The captured programs one after the other, so that only one is in memory."""
    for folder in folders:
        workers = workers_of(folder, read_meta(folder).threads)
        yield Replayed(folder.name, load_program(folder), workers)


def made_up() -> Iterator[Replayed]:
    """Made-up programs: one with all kinds of events, one with accesses only."""
    for name, trace in (("mixed", mixed_program(rounds=100)), ("scattered", scattered())):
        yield Replayed(name, core.Program(trace), range(THREADS))


def scattered() -> Trace:
    """Every thread on the same lines, near and far, read and written."""
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


def with_few_sets(spec: MachineSpec) -> Iterator[tuple[str, MachineSpec]]:
    """The machine with three sets in each L2 and LLC, and directories of 1,024 lines."""
    for l2_ways, llc_ways in WAYS:
        kinds = tuple(
            replace(kind, l2=few_sets(kind.l2, l2_ways) if kind.l2 else None)
            for kind in spec.core_classes
        )
        small = replace(
            spec,
            core_classes=kinds,
            llc=few_sets(spec.llc, llc_ways),
            directory=DirectorySpec(64, 16) if spec.directory else None,
        )
        yield f"{spec.topology.name}, ways {l2_ways} and {llc_ways}", small


def few_sets(cache: CacheSpec, ways: int) -> CacheSpec:
    return replace(cache, size_bytes=3 * ways * 64, ways=ways)


if __name__ == "__main__":
    main()
