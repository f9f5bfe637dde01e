"""Options of docker and podman, by podman: it makes a container, and starts nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from launcher_tools import allowed_here, tool

from autofinity.affinity.launchers.table import launcher_line

type Podman = Callable[..., subprocess.CompletedProcess[str]]

CONFIGURATION = """
[engine]
lock_type = "file"
events_logger = "none"
cgroup_manager = "cgroupfs"
tmp_dir = "{folder}/tmp"
"""


@pytest.fixture
def podman(tmp_path: Path) -> Iterator[Podman]:
    """Podman with all of its files below one folder. Skips where it can make no container."""
    path = tool("podman")
    (tmp_path / "image").mkdir()
    with TemporaryDirectory(dir="/tmp", prefix="af-") as folder:  # it refuses a long path
        configuration = Path(folder, "containers.conf")
        configuration.write_text(CONFIGURATION.format(folder=folder))
        env = os.environ | {"CONTAINERS_CONF": str(configuration)}
        places = [f"--root={folder}/root", f"--runroot={folder}/run", "--storage-driver=vfs"]

        def call(*words: str) -> subprocess.CompletedProcess[str]:
            command = [path, *places, *words]
            return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)

        without = call("create", "--rootfs", str(tmp_path / "image"), "true")
        if without.returncode:
            pytest.skip(f"podman makes no container here: {without.stderr.strip()[-300:]}")
        yield call


def test_podman_gives_a_container_the_cpus_of_the_text(podman: Podman, tmp_path: Path) -> None:
    cpus = allowed_here(2)
    for some in ((cpus[1],), (cpus[1], cpus[0])):
        line = launcher_line("docker", some)
        made = podman("create", "--rootfs", line, str(tmp_path / "image"), "true")
        assert made.returncode == 0, made.stderr
        form = "{{.HostConfig.CpusetCpus}}"
        shown = podman("inspect", "--format", form, made.stdout.strip()).stdout.strip()
        assert f"--cpuset-cpus={shown}" == line


@pytest.mark.parametrize("wrong", ["0,,1", "1-0", "0 1", "0x3", "cpu0"])
def test_podman_refuses_what_is_no_list_of_cpus(podman: Podman, tmp_path: Path, wrong: str) -> None:
    made = podman("create", "--rootfs", f"--cpuset-cpus={wrong}", str(tmp_path / "image"), "true")
    assert made.returncode != 0
    assert "cpuset" in made.stderr
