"""Install this tree with its dependencies: what scripts/setup runs, by the environment's Python.

    python scripts/tools/install.py EXTRA,… WHEELS

The native parts are compiled into a wheel in the folder WHEELS while the dependencies, and those of
the extras, are fetched and unpacked: fetching waits for the network, compiling for the processor.
Then the wheel is installed. Exits with the status of the first pip that failed. All processes are
one group, so that compilers end with this process.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HERE = ("-C", "cmake.define.AUTOFINITY_FOR_THIS_PROCESSOR=ON")
"""A third of the compiling is the core for processors with AVX-512."""
QUIET = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off")


def main() -> None:
    extras, wheels = sys.argv[1].split(","), Path(sys.argv[2])
    os.setpgid(0, 0)  # else the compilers of a build that is interrupted would run on
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    shutil.rmtree(wheels, ignore_errors=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    building = pip("wheel", "--no-deps", *HERE, "--wheel-dir", str(wheels), str(ROOT))
    fetching = pip("install", *requirements(project, extras))
    for process in (fetching, building):
        if process.wait():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.killpg(0, signal.SIGTERM)
            sys.exit(process.returncode)
    found = ("--no-index", "--find-links", str(wheels), project["name"])
    sys.exit(pip("install", "--no-deps", "--force-reinstall", *found).wait())


def pip(command: str, *words: str) -> subprocess.Popen[bytes]:
    """A running pip."""
    return subprocess.Popen([sys.executable, "-m", "pip", command, *QUIET, *words])


def requirements(project: Mapping[str, Any], extras: Sequence[str]) -> Iterator[str]:
    """Requirements of the project and of these extras; an extra may name others of the project."""
    yield from project["dependencies"]
    own = re.compile(rf"{project['name']}\[(.*)\]")
    waiting = list(extras)
    while waiting:
        for requirement in project["optional-dependencies"][waiting.pop()]:
            named = own.fullmatch(requirement)
            if named:
                waiting += named[1].split(",")
            else:
                yield requirement


if __name__ == "__main__":
    main()
