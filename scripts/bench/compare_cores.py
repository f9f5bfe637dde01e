"""Compare the speed of two native cores: both replay the same trace, in turns.

    python scripts/bench/compare_cores.py OLD.so NEW.so TRACE… [--rounds 7]
        [--machine opteron-6164he] [--hint SLP]

On a host whose load changes, only such pairs of times can be compared. OLD and NEW are copies of
libraries below `autofinity/lib/core`; each lives in a process of its own. Prints a row of Markdown
for each trace: the median over the pairs of old CPU time over new, and that of the least times.
Exits with 1 where the two count differently.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.machinery
import importlib.util
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

CORE = "autofinity._core"


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("old", type=Path)
    options.add_argument("new", type=Path)
    options.add_argument("traces", type=Path, nargs="+")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--machine", default="opteron-6164he")
    options.add_argument("--hint", default="SLP")
    options.add_argument("--as-child", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    for file in (chosen.old, chosen.new, *(trace / "meta.json" for trace in chosen.traces)):
        if not file.is_file():
            options.error(f"there is no file {file}; expected two cores and captured traces")
    if chosen.as_child:
        replay_when_told(chosen)
        return 0
    print("| trace | old / new, median | of the least | old s | new s | counts |")
    print("|---|---|---|---|---|---|")
    return max(compared(chosen, trace) for trace in chosen.traces)


def compared(chosen: argparse.Namespace, trace: Path) -> int:
    """Prints the row of a trace; 1 where the cores count differently."""
    children = [child(chosen, core, trace) for core in (chosen.old, chosen.new)]
    times: tuple[list[float], list[float]] = ([], [])
    digests: list[set[str]] = [set(), set()]
    for number in range(chosen.rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            seconds, digest = told(children[which])
            times[which].append(seconds)
            digests[which].add(digest)
    for each in children:
        assert each.stdin is not None
        each.stdin.close()
        each.wait()
    median = statistics.median(old / new for old, new in zip(*times, strict=True))
    least = [min(each) for each in times]
    same = digests[0] == digests[1] and len(digests[0]) == 1
    print(
        f"| {trace.name} | {median:.3f} | {least[0] / least[1]:.3f} | {least[0]:.3f} | "
        f"{least[1]:.3f} | {'same' if same else 'DIFFERENT'} |",
        flush=True,
    )
    return 0 if same else 1


def child(chosen: argparse.Namespace, core: Path, trace: Path) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, str(core.resolve()), str(core.resolve()), str(trace)]
    command += ["--machine", chosen.machine, "--hint", chosen.hint, "--as-child"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def told(process: subprocess.Popen[str]) -> tuple[float, str]:
    """CPU seconds and digest of the counts of one replay."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    answer = process.stdout.readline().split()
    if len(answer) != 2:
        sys.exit("a core could not replay the trace; what it said is above")
    return float(answer[0]), answer[1]


def load_core(path: Path) -> None:
    """Let `autofinity._core` be this file."""
    import autofinity

    loader = importlib.machinery.ExtensionFileLoader(CORE, str(path))
    spec = importlib.util.spec_from_file_location(CORE, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[CORE] = module
    loader.exec_module(module)
    autofinity._core = module  # type: ignore[attr-defined]


def replay_when_told(chosen: argparse.Namespace) -> None:
    """Replay once for each line on stdin."""
    load_core(chosen.new)
    from autofinity._core import sim as core
    from autofinity._core import trace as traces
    from autofinity.affinity.hints import get_affinity
    from autofinity.model.affinity import Hint
    from autofinity.sim.native import machine_model
    from autofinity.sim.preset import load_preset
    from autofinity.sim.replay import pus_of_streams, workers_of
    from autofinity.trace.meta import read_meta

    spec = load_preset(chosen.machine)
    machine = machine_model(spec)
    (trace,) = chosen.traces
    threads = read_meta(trace).threads
    # Cores of all versions have this.
    program, workers = core.Program(traces.read(str(trace))), workers_of(trace, threads)
    cpus = get_affinity(spec.topology, threads, Hint.parse(chosen.hint)).cpus
    pus = pus_of_streams(spec.topology, program.streams, cpus, workers)
    for _ in sys.stdin:
        started = time.process_time()
        simulation = core.Simulation(machine, program, pus)
        simulation.run()
        seconds = time.process_time() - started
        digest = hashlib.sha256(simulation.totals().tobytes()).hexdigest()[:16]
        print(seconds, digest, flush=True)


if __name__ == "__main__":
    sys.exit(main())
