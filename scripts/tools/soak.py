"""Find what `autofinity run` leaves behind: many runs and a long one.

    python scripts/tools/soak.py --runs 1000 --seconds 600

Runs short commands one after the other, each twentieth long enough for the Python half of the
monitor; then one program that changes its behaviour every few seconds, followed with `--every`.
Prints the processes, claims and open rows that are left, and the monitor's descriptors, memory and
CPU time at half time and at the end. Exit code 1: something is left, or grows.
"""

from __future__ import annotations

import argparse
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.files import save
from autofinity.runtime.claims import live_runs
from autofinity.runtime.launcher import find_launcher
from autofinity.store.behaviour_db import BehaviourDB

_PHASES = Path(__file__).parents[2] / "tests" / "smoke" / "phases.c"
_LONG_EVERY = 20
_PATIENCE_S = 60.0  # for monitors that are just ending, on a loaded machine
_MOST_GROWTH_KIB = 1024


@dataclass(frozen=True)
class Monitor:
    """The Python half at one moment."""

    descriptors: int
    rss_kib: int
    cpu_s: float
    at_s: float


def main() -> int:
    """Entry."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=1000, help="short commands")
    parser.add_argument("--seconds", type=float, default=600.0, help="of the program that changes")
    parser.add_argument("--change-s", type=float, default=10.0, help="from phase to phase")
    parser.add_argument("--launcher", type=Path, default=None)
    options = parser.parse_args()
    launcher = options.launcher or find_launcher()
    troubles: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_STATE_HOME": folder, "AUTOFINITY_PYTHON": sys.executable}
        policy = Path(folder) / "policy.json"
        faulting = Rule((Condition("page_faults", 1000.0, float("inf")),), PACKED)
        cut = {"page_faults": (1000.0,)}
        save(RulePolicy(("page_faults",), cut, (faulting,), SPREAD), policy)
        run = [str(launcher), "run", "--quiet", "--policy", str(policy)]
        short_commands(run, options.runs)
        troubles += left_behind(folder)
        if options.seconds:
            troubles += long_run(run, Path(folder), options.seconds, options.change_s)
            troubles += left_behind(folder)
    for line in troubles:
        print(f"LEAK: {line}")
    return 1 if troubles else 0


def short_commands(run: list[str], count: int) -> None:
    """Run the short commands one after the other."""
    before = time.monotonic()
    for number in range(1, count + 1):
        words = ["sleep", "0.4"] if number % _LONG_EVERY == 0 else ["true"]
        subprocess.run([*run, "--", *words], check=True)
    seconds = time.monotonic() - before
    long = count // _LONG_EVERY
    print(f"{count} commands, {long} of them of 0.4 s: {seconds:.1f} s")


def left_behind(folder: str) -> list[str]:
    """Leftovers of all runs so far, in words; printed too."""
    end = time.monotonic() + _PATIENCE_S
    while (found := processes_of(folder)) and time.monotonic() < end:
        time.sleep(0.1)
    state = Path(folder) / "autofinity"
    claims = state / "claims"
    # The file is written at each claim; lines of ended processes belong to nobody.
    claimed = [
        line
        for line in (claims.read_text().splitlines()[1:] if claims.exists() else ())
        if Path(f"/proc/{line.split()[0]}").exists()
    ]
    with BehaviourDB.open(state / "behaviour.db") as database:
        open_rows = len(live_runs(database))
    size = sum(path.stat().st_size for path in state.iterdir())
    lost = state / "monitor.log"
    print(
        f"left: {len(found)} processes, {len(claimed)} claims, {open_rows} open rows; "
        f"state folder {size / 1024:.0f} KiB; rows lost: {'yes' if lost.exists() else 'none'}"
    )
    troubles = [f"process {pid} is left" for pid in found]
    troubles += [f"claim {line!r} is left" for line in claimed]
    troubles += [f"{open_rows} rows are open"] if open_rows else []
    return troubles


def processes_of(folder: str) -> list[int]:
    """Processes that were started for this soak, by their environment."""
    mark = f"XDG_STATE_HOME={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def long_run(run: list[str], folder: Path, seconds: float, change_s: float) -> list[str]:
    """Run a program that changes, and report the state of its monitor."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("no C compiler: the program that changes is left out")
        return []
    program = folder / "phases"
    subprocess.run([compiler, "-O1", "-o", program, _PHASES, "-lpthread"], check=True)
    options = ["--period", "0.5s", "--every", "0.5", "--bind", "core"]
    process = subprocess.Popen([*run, *options, "--", str(program), "2", str(seconds + 3600)])
    begin = time.monotonic()
    half: Monitor | None = None
    last: Monitor | None = None
    hints: list[str] = []
    changes = 0
    while (now := time.monotonic() - begin) < seconds:
        time.sleep(min(0.25, seconds / 20))
        # The first phase needs time to be seen at all.
        if hints and now > change_s * (changes + 1):
            process.send_signal(signal.SIGUSR1)
            changes += 1
        seen = monitor_of(str(folder), process.pid)
        if seen is not None:
            last = seen
            if half is None and now > seconds / 2:
                half = seen
        with BehaviourDB.open(folder / "autofinity" / "behaviour.db") as database:
            row = next(iter(database.runs()))
        if row.hint and row.phase == "placed" and (not hints or hints[-1] != row.hint):
            hints.append(row.hint)
    gone_ms = ended_after_ms(str(folder), process)
    print(f"{seconds:.0f} s of a program that changed {changes} times: {len(hints)} decisions")
    if half is None or last is None:
        return ["the monitor of the long run was not there"]
    share = (last.cpu_s - half.cpu_s) / max(last.at_s - half.at_s, 1e-9)
    print(
        f"monitor at half time and at the end: {half.descriptors} and {last.descriptors} "
        f"descriptors, {half.rss_kib} and {last.rss_kib} KiB; {share:.2%} of a core in between; "
        f"gone {gone_ms:.0f} ms after the program"
    )
    troubles = []
    if last.descriptors > half.descriptors:
        troubles.append(f"{last.descriptors - half.descriptors} descriptors of the monitor")
    if last.rss_kib > half.rss_kib + _MOST_GROWTH_KIB:
        troubles.append(f"{last.rss_kib - half.rss_kib} KiB of the monitor's memory")
    return troubles


def ended_after_ms(folder: str, process: subprocess.Popen[bytes]) -> float:
    """Kill the program, and measure how long its watchers outlive it."""
    watching = [os.pidfd_open(pid) for pid in processes_of(folder) if pid != process.pid]
    process.kill()
    process.wait()
    begin = time.monotonic()
    for pidfd in watching:
        select.select([pidfd], [], [], _PATIENCE_S)
        os.close(pidfd)
    return 1e3 * (time.monotonic() - begin)


def monitor_of(folder: str, program: int) -> Monitor | None:
    """The Python half that watches `program`; None while there is none."""
    for pid in processes_of(folder):
        with suppress(OSError, StopIteration):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"autofinity.runtime.monitor" not in words or pid == program:
                continue
            status = Path(f"/proc/{pid}/status").read_text().splitlines()
            rss = next(line for line in status if line.startswith("VmRSS:"))
            return Monitor(
                len(os.listdir(f"/proc/{pid}/fd")),  # noqa: PTH208
                int(rss.split()[1]),
                int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9,
                time.monotonic(),
            )
    return None


if __name__ == "__main__":
    sys.exit(main())
