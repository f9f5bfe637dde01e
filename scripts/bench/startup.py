#!/usr/bin/env python3
"""Start-up of `autofinity run` and of similar tools: milliseconds to run /bin/true, for each.

    scripts/bench/startup.py [--launcher PATH] [--rounds 50] [--json build/bench-run.json]

Tools take turns in every round, so that a disturbance affects all of them (those that take a second
run only in some rounds). Tools that are not installed come from Debian's packages; the reason is
printed where this fails. Prints the median, and its difference from a plain exec.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from fetched_tools import NoToolError, Tool, tool

PEERS = {
    "taskset": ["taskset", "-c", "{cpus}"],
    "numactl": ["numactl", "--all"],
    "hwloc-bind": ["hwloc-bind", "all", "--"],
    "perf stat": ["perf", "stat", "-o", "/dev/null", "--"],
    "likwid-pin": ["likwid-pin", "-q", "-c", "{cpus}"],
}
_SLOW_MS = 200
_SLOW_ROUNDS = 5  # of a slow tool: enough to show how slow


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--launcher", type=Path, default=None)
    options.add_argument("--rounds", type=int, default=50)
    options.add_argument("--json", type=Path, default=None)
    chosen = options.parse_args()
    launcher = chosen.launcher or Path(sys.executable).parent / "autofinity"
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    own = dict(os.environ)
    tools = {"plain exec": Tool([], own)}
    for name, (program, *words) in PEERS.items():
        try:
            peer = tool(program)
        except NoToolError as error:
            print(f"{name} left out: {error}")
            continue
        given = [word.format(cpus=cpus) for word in words]
        tools[name] = Tool([*peer.words, *given], peer.environment)
    tools["autofinity run"] = Tool([str(launcher), "run", "--"], own)
    times: dict[str, list[float]] = {name: [] for name in tools}
    for _ in range(chosen.rounds):
        for name, each in tools.items():
            if len(times[name]) < _SLOW_ROUNDS or min(times[name]) < _SLOW_MS:
                times[name].append(once([*each.words, "/bin/true"], each.environment))
    plain = statistics.median(times["plain exec"])
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        print(f"{name:16} {median:8.2f} ms   {median - plain:+7.2f} ms over plain exec")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(
            json.dumps({"rounds": chosen.rounds, "milliseconds": medians}, indent=1) + "\n"
        )


def once(command: list[str], environment: Mapping[str, str]) -> float:
    """Milliseconds from spawning to the end; stderr is discarded."""
    quiet = [(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, environment, file_actions=quiet)
    _, status = os.waitpid(pid, 0)
    elapsed = (time.perf_counter() - start) * 1e3
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)} failed")
    return elapsed


if __name__ == "__main__":
    main()
