"""A cgroup whose processes may use some CPUs only, for tests that shrink and enlarge it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.topology import OsIndex

_V1, _V2 = Path("/sys/fs/cgroup/cpuset"), Path("/sys/fs/cgroup")


class SmallCpuset:
    """An existing cgroup."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def allow(self, cpus: Iterable[int]) -> None:
        """Allow its processes these CPUs from now on."""
        (self.folder / "cpuset.cpus").write_text(format_cpu_list(map(OsIndex, cpus)))

    def command(self) -> list[str]:
        """Words before a program that put it into the cgroup."""
        enter = f'echo $$ > {self.folder}/cgroup.procs && exec "$@"'
        return ["sh", "-c", enter, "sh"]

    def enter(self) -> None:
        """For `preexec_fn`: put this process, and the processes that it starts, into the cgroup."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))


@contextmanager
def small_cpuset(cpus: Iterable[int]) -> Iterator[SmallCpuset]:
    """A new cgroup that allows these CPUs. Skips the test where none can be made."""
    name = f"autofinity-test-{os.getpid()}"
    folder = (_V1 if (_V1 / "cpuset.cpus").exists() else _V2) / name
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made: {error.strerror}")
    try:
        if not (folder / "cpuset.cpus").exists():
            pytest.skip("no cgroup here has the controller cpuset")
        made = SmallCpuset(folder)
        made.allow(cpus)
        with suppress(OSError):
            (folder / "cpuset.mems").write_text((folder.parent / "cpuset.mems").read_text())
        yield made
    finally:
        for _ in range(100):  # until the last of its processes has ended
            with suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.05)
