#!/usr/bin/env python3
"""Cost of sampled traces against the length of the region and the number of threads. As Markdown.

    python scripts/studies/sampling_cost.py -p stencil --size small,medium,large,memory --threads 8
    python scripts/studies/sampling_cost.py -p stencil --size medium --threads 8,64,192

A row for each input and thread count: accesses of the region, CPU seconds of the captured run (all
threads, `capture --sampled`) and of the plain one, bytes of the trace, its windows, and CPU seconds
of a replay by default in the packed and in the spread placement, with the error that it reports.
Each replay reads its windows, as `autofinity simulate` does.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
from capture_cost import native_cpu_s

from autofinity.affinity.hints import get_affinity
from autofinity.capture.build import build_program
from autofinity.capture.compilers import Compilers
from autofinity.capture.request import CaptureRequest
from autofinity.capture.run import capture
from autofinity.capture.sampling import WindowPlan
from autofinity.model.affinity import Hint
from autofinity.resources import shipped
from autofinity.sim.preset import load_preset
from autofinity.sim.replay import workers_of
from autofinity.sim.sampled import Precision, SampledProgram, simulate_sampled
from autofinity.sim.spec import MachineSpec
from autofinity.trace.manifest import load_suite
from autofinity.trace.meta import read_meta

HINTS = (Hint.parse("packed"), Hint.parse("spread"))


def replay(trace: Path, spec: MachineSpec, hint: Hint) -> tuple[float, float]:
    """CPU seconds of a replay by default, and the relative error that it reports."""
    began = time.process_time()
    workers = workers_of(trace, read_meta(trace).threads)
    cores = get_affinity(spec.topology, len(workers), hint)
    found = simulate_sampled(
        spec, SampledProgram(trace), cores.cpus, workers=workers, seed=1, precision=Precision()
    )
    return time.process_time() - began, found.error


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--program", "-p", default="stencil")
    parser.add_argument("--size", default="small,medium,large,memory")
    parser.add_argument("--threads", "-t", default="8")
    parser.add_argument("--machine", "-m", default="epyc-9654")
    args = parser.parse_args()
    suite, spec = load_suite(shipped("training", "suite.toml")), load_preset(args.machine)
    program = suite.pick((args.program,))[0]
    compilers = Compilers.find(os.environ)
    print("| size | threads | M accesses | plain, s | capture, s | MB | windows |", end="")
    print(" packed, s | error, % | spread, s | error, % |")
    print("|---|" + "---|" * 10)
    with tempfile.TemporaryDirectory(prefix="autofinity-") as name:
        folder = Path(name)
        plain, hooked = (
            build_program(suite, program, compilers, folder / "builds", instrumented=instrumented)
            for instrumented in (False, True)
        )
        for size in args.size.split(","):
            for threads in map(int, args.threads.split(",")):
                plain_s = native_cpu_s(
                    CaptureRequest(suite, program, plain, threads, size, folder), rounds=1
                )
                plan = WindowPlan.of(threads)
                meta = capture(
                    CaptureRequest(suite, program, hooked, threads, size, folder, sampling=plan)
                )
                windows = meta.sampling.windows if meta.sampling else 0
                size_mb = sum(f.stat().st_size for f in meta.path.rglob("*") if f.is_file()) / 1e6
                print(
                    f"| {size} | {threads} | {meta.roi_accesses / 1e6:,.0f} | {plain_s:.1f} "
                    f"| {meta.cpu_s:.1f} | {size_mb:.1f} | {windows} |",
                    end="",
                    flush=True,
                )
                for hint in HINTS:
                    if windows:
                        cpu_s, error = replay(meta.path, spec, hint)
                        print(f" {cpu_s:.1f} | {100 * error:.2f} |", end="", flush=True)
                    else:  # too short to be sampled
                        print(" – | – |", end="")
                print(flush=True)


if __name__ == "__main__":
    main()
