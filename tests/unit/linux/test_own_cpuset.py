"""CPUs of the cgroup of a process: its own, as some launchers give each rank, or one above it."""

from __future__ import annotations

import subprocess

import pytest
from launcher_tools import allowed_here
from small_cpuset import small_cpuset

from autofinity.linux.bind import cpuset_of, in_a_smaller_cpuset_than_its_parent
from autofinity.model.cpu_lists import parse_cpu_list


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


@pytest.mark.parametrize(
    ("group", "files", "cpus"),
    [
        (
            "0::/user.slice/user-1000.slice/session-3.scope",
            {"/user.slice/cpuset.cpus.effective": "0-31", "/cpuset.cpus.effective": "0-127"},
            "0-31",
        ),
        ("0::/system.slice/a.service", {"/cpuset.cpus.effective": "0-127"}, "0-127"),
        (
            "3:cpuset:/kubepods/pod1/container\n0::/",
            {"/cpuset/cpuset.effective_cpus": "0-31"},
            "0-31",
        ),
        ("0::/../elsewhere", {"/cpuset.cpus.effective": "0-127"}, None),
        ("0::/user.slice", {}, None),
    ],
    ids=["a slice above", "none above", "a container of v1", "outside our namespace", "no cpusets"],
)
def test_the_nearest_cgroup_that_has_a_cpuset_counts(
    group: str, files: dict[str, str], cpus: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {f"/sys/fs/cgroup{path}": f"{text}\n" for path, text in files.items()}
    there["/proc/7/cgroup"] = f"{group}\n"
    monkeypatch.setattr("autofinity.linux.bind.read_text", lambda path: there.get(path, ""))
    assert cpuset_of(7) == (None if cpus is None else parse_cpu_list(cpus))
