"""Runs tests/numa on a real NUMA kernel: a stock Debian kernel under QEMU, on this system's files.

usage: scripts/numa-guest [--machine 4x4|4x2x6] [pytest arguments]

QEMU, kernel and busybox come from Debian's packages and are kept in the user's cache folder;
nothing is installed and no privilege is necessary. The guest sees this system's files read-only and
writes into memory. Exit codes: 0 all passed, 77 no guest can run here (the last line has the
reason), else pytest's.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from boot import run
from machines import MACHINES, Machine
from packages import NoGuestError, fetched

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("tests/numa/workers.c", "tests/numa/partners.c", "tests/smoke/pairs.c")
NO_GUEST = 77


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/numa-guest", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--machine", choices=MACHINES, default="4x4", help="default: 4x4")
    parser.add_argument(
        "--accelerator", choices=("kvm", "tcg"), help="default: KVM where it serves, else emulation"
    )
    parser.add_argument("--limit-s", type=float, default=600, help="wall time of it all")
    parser.add_argument("--out", type=Path, help="default: build/numa-guest-MACHINE")
    options, words = parser.parse_known_args()
    machine = MACHINES[options.machine]
    out = (options.out or ROOT / "build" / f"numa-guest-{options.machine}").resolve()
    out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.limit_s
    try:
        parts = fetched(options.limit_s)
        _compile(out)
        accelerator = options.accelerator or ("kvm" if _kvm_serves() else "tcg")
        left_s = max(0.0, end - time.monotonic())
        _write_task(out, machine, time.time() + left_s, words)
        return run(machine, parts, out, accelerator, left_s)
    except NoGuestError as error:
        print(f"numa-guest: no guest: {error}", file=sys.stderr)
        return NO_GUEST


def _kvm_serves() -> bool:
    """Whether KVM can be used: within a virtual machine /dev/kvm may exist and hang, so emulation
    is safer.
    """
    virtual = "hypervisor" in Path("/proc/cpuinfo").read_text()
    return not virtual and os.access("/dev/kvm", os.R_OK | os.W_OK)


def _compile(out: Path) -> None:
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise NoGuestError("no C compiler; expected cc, gcc or clang")
    for source in PROGRAMS:
        command = [compiler, "-O1", "-o", out / Path(source).stem, ROOT / source, "-lpthread"]
        subprocess.run(command, check=True)


def _write_task(out: Path, machine: Machine, end_s: float, words: list[str]) -> None:
    """The guest's script: pytest of this interpreter, without any plugin.

    `end_s` is the time at which the guest is killed, by the host's clock, in seconds since the
    epoch.
    """
    variables = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/run/home",
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "AUTOFINITY_NUMA_GUEST": f"{machine.sockets} {machine.dies} {machine.cores}",
        "AUTOFINITY_NUMA_END_S": str(end_s),
        "AUTOFINITY_NUMA_PROGRAMS": "/run/task",
    }
    for name in ("PYTHONPATH", "PYTHONSAFEPATH", "LD_LIBRARY_PATH"):
        if name in os.environ:
            variables[name] = os.environ[name]
    command = [
        sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--confcutdir=tests/numa",
        "--basetemp=/run/pytest", "--junitxml=/run/task/report.xml", "-vv", "--durations=0",
        "-o", "testpaths=tests/numa", *words,
    ]  # fmt: skip
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    lines += ["mkdir -p /run/home", f"cd {shlex.quote(str(ROOT))}", shlex.join(["exec", *command])]
    (out / "task").write_text("\n".join(lines) + "\n")


sys.exit(main())
