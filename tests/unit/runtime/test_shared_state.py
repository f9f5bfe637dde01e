"""Several hosts with one home directory: what one of them writes does the others no harm."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from autofinity.linux.identity import identity_of, this_host
from autofinity.runtime.claims import write_claims
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.network_folders import may_be_shared


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
