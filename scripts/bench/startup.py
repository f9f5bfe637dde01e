#!/usr/bin/env python3
"""Start-up of `autofinity run` and of its peers: milliseconds to run /bin/true, tool by tool.

    scripts/bench/startup.py [--launcher PATH] [--rounds 50] [--json build/bench-run.json]

Tools take turns in every round, so that a disturbance meets all of them. Peers that are not
installed are left out. Printed: median, and what that is above a plain exec.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

PEERS = {
    "taskset": ["taskset", "-c", "{cpus}"],
    "numactl": ["numactl", "--all"],
    "hwloc-bind": ["hwloc-bind", "all", "--"],
    "perf stat": ["perf", "stat", "-o", "/dev/null", "--"],
    "likwid-pin": ["likwid-pin", "-q", "-c", "{cpus}"],
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--launcher", type=Path, default=None)
    options.add_argument("--rounds", type=int, default=50)
    options.add_argument("--json", type=Path, default=None)
    chosen = options.parse_args()
    launcher = chosen.launcher or Path(sys.executable).parent / "autofinity"
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    tools: dict[str, list[str]] = {"plain exec": []}
    for name, words in PEERS.items():
        if shutil.which(words[0]):
            tools[name] = [word.format(cpus=cpus) for word in words]
    tools["autofinity run"] = [str(launcher), "run", "--"]
    times: dict[str, list[float]] = {name: [] for name in tools}
    for _ in range(chosen.rounds):
        for name, words in tools.items():
            times[name].append(once([*words, "/bin/true"]))
    plain = statistics.median(times["plain exec"])
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        print(f"{name:16} {median:8.2f} ms   {median - plain:+7.2f} ms over plain exec")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(
            json.dumps({"rounds": chosen.rounds, "milliseconds": medians}, indent=1) + "\n"
        )


def once(command: list[str]) -> float:
    """Milliseconds from spawning to the end; stderr goes nowhere."""
    quiet = [(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=quiet)
    _, status = os.waitpid(pid, 0)
    elapsed = (time.perf_counter() - start) * 1e3
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)} failed")
    return elapsed


if __name__ == "__main__":
    main()
