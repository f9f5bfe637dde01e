"""A cgroup of a process's own, as some launchers give each rank."""

from __future__ import annotations

import subprocess

from launcher_tools import allowed_here
from small_cpuset import small_cpuset

from autofinity.linux.bind import in_a_smaller_cpuset_than_its_parent


def test_a_process_in_a_smaller_cpuset_than_its_parent_is_known() -> None:
    _, second = allowed_here(2)
    with small_cpuset([second]) as group, subprocess.Popen(["sleep", "300"]) as process:
        try:
            assert not in_a_smaller_cpuset_than_its_parent(process.pid)
            (group.folder / "cgroup.procs").write_text(str(process.pid))
            assert in_a_smaller_cpuset_than_its_parent(process.pid)
        finally:
            process.kill()
    assert not in_a_smaller_cpuset_than_its_parent(process.pid)
