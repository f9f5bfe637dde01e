"""Groups of cgroup v2: what the kernel makes of the script (v1's cpuset has the same files)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from launcher_tools import MASK, allowed_here
from made_up_machine import machine
from small_cpuset import small_cpuset

from autofinity.affinity.launchers.form import Job, Task
from autofinity.affinity.launchers.table import launcher_form, rank_texts
from autofinity.affinity.ranks import place_ranks
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.topology import OsIndex


def test_each_rank_has_a_group_with_its_cpus_and_nodes() -> None:
    whole = machine(2, 1, 1, 4)
    (text,) = rank_texts("cgroup", place_ranks(whole, 2, 2, PACKED), whole)
    head, _, body = text.partition("# rank 0\n")
    assert head.startswith("#!/bin/sh\n")
    assert body.splitlines() == [
        "mkdir -p rank0",
        "echo 0-1 > rank0/cpuset.cpus",
        "echo 0 > rank0/cpuset.mems",
        "# rank 1",
        "mkdir -p rank1",
        "echo 4-5 > rank1/cpuset.cpus",
        "echo 1 > rank1/cpuset.mems",
    ]
    (text,) = rank_texts("cgroup", place_ranks(whole, 1, 2, SPREAD), whole)
    assert "echo 0-1 > rank0/cpuset.mems" in text


def test_the_kernel_reads_groups_back_and_confines_programs_to_them(tmp_path: Path) -> None:
    first, second = allowed_here(2)
    tasks = (Task((second,), (OsIndex(0),)), Task((first,), (OsIndex(0),)))
    (text,) = launcher_form("cgroup").texts(Job(tasks))
    with small_cpuset([first, second]) as group:
        folders = [group.folder / f"rank{rank}" for rank in range(2)]
        try:
            _script(text, tmp_path, str(group.folder))
            assert [_cpus(folder) for folder in folders] == [{second}, {first}]
            for folder, cpu in zip(folders, (second, first), strict=True):
                command = f"echo $$ > {folder}/cgroup.procs && {MASK}"
                done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
                assert done.stdout.split()[-1] == str(cpu), done.stderr
        finally:
            for folder in folders:
                folder.rmdir()


def test_the_script_enables_the_controller_above_and_in_its_folder(tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    (parent / "placed").mkdir(parents=True)
    for folder in (parent, parent / "placed"):
        (folder / "cgroup.subtree_control").touch()
    (text,) = launcher_form("cgroup").texts(Job((Task((OsIndex(3),)),)))
    _script(text, tmp_path, str(parent / "placed"))
    for folder in (parent, parent / "placed"):
        assert (folder / "cgroup.subtree_control").read_text() == "+cpuset\n"
    assert (parent / "placed/rank0/cpuset.cpus").read_text() == "3\n"


def test_the_script_without_a_folder_says_what_it_expects_and_makes_nothing(tmp_path: Path) -> None:
    (text,) = launcher_form("cgroup").texts(Job((Task((OsIndex(3),)),)))
    with pytest.raises(subprocess.CalledProcessError) as failed:
        _script(text, tmp_path)
    assert "expected the folder of a cgroup" in failed.value.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["groups.sh"]


def _script(text: str, folder: Path, *words: str) -> None:
    script = folder / "groups.sh"
    script.write_text(text + "\n")
    subprocess.run(
        ["sh", str(script), *words], cwd=folder, check=True, capture_output=True, text=True
    )


def _cpus(folder: Path) -> frozenset[OsIndex]:
    return parse_cpu_list((folder / "cpuset.cpus").read_text())
