#!/usr/bin/env python3
"""Cost of capture: CPU time against the plain program, and bytes on disk per access.

    python scripts/bench/capture_cost.py [--program NAME]… [--threads 8] [--size small]
                                                 [--rounds 2] [--binary | --sampled]

Builds each training program twice (plain and for capture), runs both, and prints a row for each:
CPU seconds (user and system, all threads; the least of the rounds), their ratio, accesses in
millions, accesses per event, bytes per access, and how many polls of waiting loops were left out.
With --binary the plain program itself is captured, under QEMU; with --sampled windows of it are.
Writes build/bench-capture.json, or build/bench-capture-binary.json or -sampled.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from autofinity.capture.binary import BinaryRequest, capture_binary
from autofinity.capture.build import Built, build_program
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.capture.request import CaptureRequest, arguments_of, environment_of
from autofinity.capture.run import capture
from autofinity.capture.sampling import WindowPlan
from autofinity.resources import shipped
from autofinity.trace.manifest import ProgramSpec, Suite, load_suite
from autofinity.trace.meta import TraceMeta

ROOT = Path(__file__).resolve().parents[2]


def native_cpu_s(request: CaptureRequest, rounds: int) -> float:
    """Least CPU seconds of the plain program."""
    seconds = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as work:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                arguments_of(request),
                env=environment_of(request, os.environ),
                cwd=work,
                check=True,
                stdout=subprocess.DEVNULL,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


def capture_plain(request: CaptureRequest) -> TraceMeta:
    """Capture the plain program of a suite, as a binary."""
    roi = request.spec.roi
    work = request.out / "work"
    work.mkdir(exist_ok=True)
    os.chdir(work)
    argv, threads = arguments_of(request), request.threads
    return capture_binary(BinaryRequest(argv, request.out, threads, roi, to_stderr=True)).meta


def captured(request: CaptureRequest, rounds: int, binary: bool) -> TraceMeta:
    """The capture with the least CPU time."""
    best: TraceMeta | None = None
    for _ in range(rounds):
        shutil.rmtree(request.folder, ignore_errors=True)
        meta = capture_plain(request) if binary else capture(request)
        if best is None or meta.cpu_s < best.cpu_s:
            best = meta
    assert best is not None
    return best


def row_of(
    suite: Suite, spec: ProgramSpec, args: argparse.Namespace, compilers: Compilers, folder: Path
) -> dict[str, Any]:
    def built(instrumented: bool) -> Built:
        cache = folder / "builds"
        return build_program(suite, spec, compilers, cache, instrumented=instrumented)

    sampling = WindowPlan.of(args.threads) if args.sampled else None
    plain = CaptureRequest(suite, spec, built(False), args.threads, args.size, folder)
    native_s = native_cpu_s(plain, args.rounds)
    if args.binary:
        meta = captured(plain, args.rounds, binary=True)
    else:
        request = CaptureRequest(
            suite, spec, built(True), args.threads, args.size, folder, sampling=sampling
        )
        meta = captured(request, args.rounds, binary=False)
    shutil.rmtree(meta.path)
    return {
        "program": spec.name,
        "native_cpu_s": native_s,
        "capture_cpu_s": meta.cpu_s,
        "ratio": meta.cpu_s / native_s,
        "accesses": meta.accesses,
        "events": sum(stream.events for stream in meta.streams),
        "bytes": meta.bytes,
        "bytes_per_access": meta.bytes / meta.accesses,
        "spins": meta.spins,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--program", "-p", action="append", default=[])
    parser.add_argument("--threads", "-t", type=int, default=8)
    parser.add_argument("--size", default="small")
    parser.add_argument("--rounds", type=int, default=2)
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--binary", action="store_true", help="the plain program, under QEMU")
    ways.add_argument("--sampled", action="store_true", help="windows of each program")
    args = parser.parse_args()
    suite = load_suite(shipped("training", "suite.toml"))
    compilers = Compilers.find(os.environ)
    rows = []
    print(
        "program      native s  capture s  ratio  M accesses  accesses/event  bytes/access  M polls"
    )
    with tempfile.TemporaryDirectory(prefix="autofinity-bench-") as name:
        for spec in suite.pick(tuple(args.program)):
            if skip_reason(spec, compilers) or not spec.threads.allows(args.threads):
                continue
            row = row_of(suite, spec, args, compilers, Path(name))
            rows.append(row)
            print(
                f"{row['program']:12}{row['native_cpu_s']:9.2f}{row['capture_cpu_s']:11.2f}"
                f"{row['ratio']:7.1f}{row['accesses'] / 1e6:12.1f}"
                f"{row['accesses'] / row['events']:16.1f}{row['bytes_per_access']:14.3f}"
                f"{row['spins'] / 1e6:9.2f}",
                flush=True,
            )
    document = {
        "rows": rows,
        "capture_slowdown": sum(r["capture_cpu_s"] for r in rows)
        / sum(r["native_cpu_s"] for r in rows),
        "trace_bytes_per_access": sum(r["bytes"] for r in rows) / sum(r["accesses"] for r in rows),
    }
    print(
        f"all: ratio {document['capture_slowdown']:.1f}, "
        f"{document['trace_bytes_per_access']:.3f} bytes per access"
    )
    way = "-binary" if args.binary else "-sampled" if args.sampled else ""
    out = ROOT / "build" / f"bench-capture{way}.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
