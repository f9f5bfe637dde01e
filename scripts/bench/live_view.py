#!/usr/bin/env python3
"""CPU time of `autofinity top` on a terminal, in per cent of one CPU.

usage: scripts/bench/live_view.py [--runs 10] [--threads 64] [--seconds 30]

Starts programs with so many threads that wake up often, records them as live runs in a database of
their own, and reads the CPU time of `top` over the time, start-up left out.
"""

import argparse
import os
import pty
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from autofinity.linux.identity import identity_of
from autofinity.linux.proc import tasks_of
from autofinity.model.affinity import PACKED
from autofinity.store.behaviour_db import BehaviourDB

PROGRAM = """
import sys, threading, time
def work():
    while True:
        time.sleep(0.05)
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=work, daemon=True).start()
work()
"""
START_UP_S = 3.0
COLUMNS, LINES = 120, 40


def record(path: Path, pid: int, threads: int) -> None:
    """Put a live run into the database."""
    process = identity_of(pid)
    with BehaviourDB.open(path) as database:
        run = database.begin_run(
            "k" * 64,
            "/bin/program",
            pid,
            "software events",
            host=process.host,
            start_ticks=process.start_ticks,
            monitor_pid=pid,
            monitor_ticks=process.start_ticks,
            allowed="0",
        )
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        database.update_run(run, threads=threads, hint=PACKED, phase="placed", cpus=cpus)


def cpu_ns(pid: int) -> int:
    return sum(task.cpu_ns for task in tasks_of(pid))


def measured(database: Path, seconds: float) -> float:
    """Share of a CPU that `top` takes."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    words = [sys.executable, "-m", "autofinity", "top", "--db", str(database)]
    top = subprocess.Popen(
        words, stdin=theirs, stdout=theirs, env=environment | {"LINES": str(LINES)}, cwd="/"
    )
    threading.Thread(target=drain, args=(ours,), daemon=True).start()
    try:
        time.sleep(START_UP_S)
        before, since = cpu_ns(top.pid), time.monotonic()
        time.sleep(seconds)
        return (cpu_ns(top.pid) - before) / 1e9 / (time.monotonic() - since)
    finally:
        os.write(ours, b"q")
        top.wait(10)


def drain(descriptor: int) -> None:
    while True:
        try:
            os.read(descriptor, 1 << 16)
        except OSError:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU time of the live view.")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "state" / "behaviour.db"
        database.parent.mkdir(mode=0o700)
        words = [sys.executable, "-c", PROGRAM, str(options.threads)]
        programs = [subprocess.Popen(words) for _ in range(options.runs)]
        try:
            for program in programs:
                record(database, program.pid, options.threads)
            share = measured(database, options.seconds)
        finally:
            for program in programs:
                program.kill()
                program.wait()
    print(f"{options.runs} runs of {options.threads} threads: {share:.2%} of a CPU")


if __name__ == "__main__":
    main()
