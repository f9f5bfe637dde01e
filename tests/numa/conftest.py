"""Fixtures of tests that only run within the guest of scripts/numa-guest, as root, on a kernel with
NUMA nodes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from live_run import Runner

from autofinity.linux import hwloc_process
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import Topology
from autofinity.policy.files import save
from autofinity.runtime.launcher import find_launcher

_SHAPE = os.environ.get("AUTOFINITY_NUMA_GUEST", "")
collect_ignore_glob = [] if _SHAPE else ["test_*.py"]
_CGROUPS = Path("/sys/fs/cgroup")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that watch running programs last: they take as long as all others together."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@dataclass(frozen=True)
class Shape:
    """The shape of the machine that QEMU emulates."""

    sockets: int
    dies: int
    cores: int

    @property
    def nodes(self) -> int:
        return self.sockets * self.dies


@pytest.fixture(scope="session")
def shape() -> Shape:
    return Shape(*map(int, _SHAPE.split()))


@pytest.fixture
def topology() -> Topology:
    """The topology of the kernel at this time."""
    return read_sysfs()


@pytest.fixture(scope="session")
def programs() -> Path:
    """Folder of the programs that were compiled outside."""
    return Path(os.environ["AUTOFINITY_NUMA_PROGRAMS"])


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    """A runner that waits longer than the time that `make test` gives a guest: there a slow host
    ends as a skip.
    """
    return replace(Runner.within(tmp_path, find_launcher()), patience_s=300, look_s=0.5)


@pytest.fixture(scope="session")
def left_s(programs: Path) -> Callable[[], float]:
    """Seconds until this guest is killed, by the host's clock: the clock of a kernel that booted on
    a loaded host may run at nearly three times the speed (measured).
    """
    end_s = float(os.environ["AUTOFINITY_NUMA_END_S"])
    stamp = programs / "stamp"

    def left() -> float:
        stamp.touch()  # of the host's files: its time is the host's
        return end_s - stamp.stat().st_mtime

    return left


@pytest.fixture(autouse=True)
def patient_with_hwloc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for hwloc: it answers in milliseconds, but may take half a minute here (8 nodes,
    a loaded host).
    """
    monkeypatch.setattr(hwloc_process, "TIMEOUT_S", 300.0)


@pytest.fixture
def policy_of(tmp_path: Path) -> object:
    """Writes a policy whose one answer is a hint."""

    def write(hint: Hint) -> Path:
        path = tmp_path / f"{hint}.json"
        save(RulePolicy((), {}, (), hint), path)
        return path

    return write


class Cgroup:
    """A group of version 2 with a cpuset."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    def set(self, cpus: str, nodes: str = "") -> None:
        (self._folder / "cpuset.cpus").write_text(cpus)
        (self._folder / "cpuset.mems").write_text(nodes)

    def enter(self, pid: int = 0) -> None:
        (self._folder / "cgroup.procs").write_text(str(pid))

    def leave(self, pid: int = 0) -> None:
        (_CGROUPS / "cgroup.procs").write_text(str(pid))


@pytest.fixture
def cgroup() -> Iterator[Cgroup]:
    (_CGROUPS / "cgroup.subtree_control").write_text("+cpuset")
    folder = _CGROUPS / "restricted"
    yield Cgroup(folder)
    end = time.monotonic() + 60
    while folder.exists():
        for pid in (folder / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (_CGROUPS / "cgroup.procs").write_text(pid)
        try:
            folder.rmdir()
        except OSError:  # a process that has ended is in its group until the kernel let it go
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Online:
    """Switches CPUs off, and on again at the end."""

    def __init__(self) -> None:
        self._off: list[Path] = []

    def switch_off(self, *cpus: int) -> None:
        for cpu in cpus:
            path = Path(f"/sys/devices/system/cpu/cpu{cpu}/online")
            path.write_text("0")
            self._off.append(path)

    def restore(self) -> None:
        for path in self._off:
            path.write_text("1")


@pytest.fixture
def online() -> Iterator[Online]:
    cpus = Online()
    yield cpus
    cpus.restore()
