"""Several hosts with one home directory: what one of them writes does the others no harm."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from autofinity.linux.identity import identity_of, this_host
from autofinity.linux.machine_key import machine_key
from autofinity.runtime.claims import write_claims
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.network_folders import may_be_shared

MODEL = "cpu:type:x86,ven0002fam0019mod0011"


def tree(root: Path, **files: str) -> str:
    """A sysfs of two nodes; `files` replaces some, by the last word of their names."""
    given = {
        "devices/system/cpu/modalias": f"{MODEL}:feature:,0000,0001",
        "devices/system/cpu/present": "0-7",
        "devices/system/cpu/cpu0/cache/index3/shared_cpu_list": "0-3",
        "devices/system/node/online": "0,2",
        "devices/system/node/node0/cpulist": "0-3",
        "devices/system/node/node2/cpulist": "4-7",
    }
    for name, text in given.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files.get(path.name, text) + "\n")
    return str(root)


def test_machines_that_are_built_alike_have_one_key(tmp_path: Path) -> None:
    one = machine_key(tree(tmp_path / "one"))
    newer_kernel = tree(tmp_path / "two", modalias=f"{MODEL}:feature:,0000,0001,0002")
    assert machine_key(newer_kernel) == one
    assert len(one) == 16


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("modalias", "cpu:type:x86,ven0002fam0019mod0001:feature:"),
        ("present", "0-15"),
        ("shared_cpu_list", "0-1"),
        ("cpulist", "0-3,8-11"),
        ("online", "0"),
    ],
)
def test_another_kind_of_machine_has_another_key(tmp_path: Path, name: str, text: str) -> None:
    assert machine_key(tree(tmp_path / "a")) != machine_key(tree(tmp_path / "b", **{name: text}))


def test_a_machine_that_tells_nothing_has_a_key(tmp_path: Path) -> None:
    assert len(machine_key(str(tmp_path))) == 16
    assert len(machine_key(tree(tmp_path, online="nonsense"))) == 16


@pytest.mark.parametrize(
    ("kind", "shared"),
    [("ext4", False), ("tmpfs", False), ("nfs4", True), ("lustre", True), ("fuse.sshfs", True)],
)
def test_the_kernel_says_which_folders_other_hosts_may_have(
    tmp_path: Path, kind: str, shared: bool
) -> None:
    device = os.stat(tmp_path).st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 0:9999 / / rw - nfs server:/ rw\n"
        f"36 35 {os.major(device)}:{os.minor(device)} / /home rw shared:1 master:2 - {kind} x rw\n"
        "a line of another time\n"
    )
    assert may_be_shared(tmp_path, mounts) is shared


def test_what_cannot_be_told_is_local(tmp_path: Path) -> None:
    assert not may_be_shared(tmp_path / "gone")
    assert not may_be_shared(tmp_path, tmp_path / "no-mountinfo")


def test_claims_of_another_host_stay_and_those_of_dead_processes_here_go(tmp_path: Path) -> None:
    me = identity_of(os.getpid())
    with subprocess.Popen(["true"]) as ended:
        pass
    with BehaviourDB.open(tmp_path / "db") as database:
        for host, pid, ticks in (
            (me.host, me.pid, me.start_ticks),
            (me.host, ended.pid, 7),
            ("elsewhere 1", 4242, 99),
        ):
            run = database.begin_run("k", "/bin/k", pid, "t", host=host, start_ticks=ticks)
            database.update_run(run, cpus="0-3")
        write_claims(database)
    head, *lines = (tmp_path / "claims").read_text().splitlines()
    assert head == "autofinity-claims 2"
    assert lines == ["elsewhere 1 4242 99 0-3", f"{this_host()} {me.pid} {me.start_ticks} 0-3"]
