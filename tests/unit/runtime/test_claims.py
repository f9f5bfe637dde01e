"""Runs on one machine keep off each other's cores; what a dead one claimed is free again."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from made_up_machine import cpus, machine

from autofinity.affinity.hints import get_affinity
from autofinity.linux.identity import start_ticks_of, this_host
from autofinity.model.affinity import PACKED
from autofinity.model.errors import PlacementError
from autofinity.model.placement import CoreSet
from autofinity.ports import Interval
from autofinity.runtime.claims import (
    CLAIMS_HEAD,
    claimed,
    expire,
    free_cpus,
    live_runs,
    whole_cores,
)
from autofinity.runtime.journal import Journal
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.run_header import RunHeader
from autofinity.store.behaviour_db import BehaviourDB

MACHINE = machine(llcs=2, smt=2, number=lambda core, rank: 8 * rank + core)
"""CPU c and c + 8 are the siblings of core c."""


def journal_of(path: Path, pid: int) -> Journal:
    return Journal(path, RunHeader("k", "/bin/k", pid, "software events", 4, "d", "llc", "0-15"))


def reserve(journal: Journal, threads: int) -> tuple[CoreSet, str]:
    pick = partial(get_affinity, MACHINE, threads, PACKED)
    reserved = journal.reserve(MACHINE, threads, MACHINE.allowed, pick)
    return reserved.cores, reserved.note


def test_a_sibling_of_a_claimed_cpu_is_claimed_with_it() -> None:
    assert whole_cores(MACHINE, cpus(0, 3)) == cpus(0, 8, 3, 11)


def test_claimed_cpus_are_avoided_only_where_a_core_is_left_for_each_thread() -> None:
    taken = whole_cores(MACHINE, cpus(0, 1, 2, 3))
    free, note = free_cpus(MACHINE, 4, MACHINE.allowed, taken)
    assert free == MACHINE.allowed - taken
    assert "these are not used" in note
    everything, note = free_cpus(MACHINE, 5, MACHINE.allowed, taken)
    assert everything == MACHINE.allowed
    assert note == "other runs leave 4 cores free for 5 threads: cores are shared with them"
    assert free_cpus(MACHINE, 4, cpus(4, 5), taken) == (cpus(4, 5), "")


def test_two_runs_at_once_do_not_share_a_core_and_a_third_is_told(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "300"]) as one, subprocess.Popen(["sleep", "300"]) as two:
        try:
            first, no_note = reserve(journal_of(tmp_path / "db", one.pid), 4)
            second, note = reserve(journal_of(tmp_path / "db", two.pid), 4)
            third, crowd = reserve(journal_of(tmp_path / "db", os.getpid()), 4)
        finally:
            one.kill()
            two.kill()
    # A copy for the launcher, which reads no database.
    head, *lines = (tmp_path / "claims").read_text().splitlines()
    assert head == CLAIMS_HEAD
    assert {int(line.split()[2]) for line in lines} == {one.pid, two.pid, os.getpid()}
    assert not whole_cores(MACHINE, first.cpus) & whole_cores(MACHINE, second.cpus)
    assert no_note == ""
    assert "these are not used" in note
    assert set(third.cpus) == set(first.cpus)
    assert crowd.startswith("other runs leave 0 cores free")


def test_who_is_left_alone_gives_its_cores_back_to_launchers_too(tmp_path: Path) -> None:
    journal = journal_of(tmp_path / "db", os.getpid())
    reserve(journal, 4)
    assert len((tmp_path / "claims").read_text().splitlines()) == 2
    journal.saw(LiveState(), LiveState(phase="left alone"), Interval(0, 1, ()), None)
    assert (tmp_path / "claims").read_text().splitlines() == [CLAIMS_HEAD]
    with BehaviourDB.open(tmp_path / "db") as database:
        assert claimed(live_runs(database)) == frozenset()


def test_the_claim_of_a_killed_program_expires_though_nobody_noted_its_end(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "300"]) as program:
        reserve(journal_of(tmp_path / "db", program.pid), 16)
        with BehaviourDB.open(tmp_path / "db") as database:
            assert claimed(live_runs(database)) == MACHINE.allowed
        program.kill()
    with BehaviourDB.open(tmp_path / "db") as database:
        assert live_runs(database) == ()
    _, note = reserve(journal_of(tmp_path / "db", os.getpid()), 16)
    assert note == ""
    with BehaviourDB.open(tmp_path / "db") as database:
        assert [run.ended is None for run in database.runs()] == [True, False]


@pytest.mark.parametrize("shared", [False, True], ids=["on a local disk", "shared by hosts"])
def test_the_end_of_runs_before_the_last_boot_is_recorded_where_no_other_host_may_run_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    monkeypatch.setattr("autofinity.runtime.claims.may_be_shared", lambda path: shared)
    boot, namespace = this_host().split()
    with BehaviourDB.open(tmp_path / "db") as database:
        hidden = f"@host {namespace}"
        for host in (f"another-boot {namespace}", f"{boot} 1", hidden, ""):
            database.begin_run("k", "/bin/k", os.getpid(), "t", host=host, start_ticks=1)
        expire(database)
        assert [run.host for run in database.runs() if run.ended is not None] == (
            [] if shared else [f"another-boot {namespace}"]
        )


def test_where_the_boot_is_hidden_only_runs_of_this_host_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autofinity.linux.identity.read_text", lambda path: "")
    hosts = (this_host(), this_host().replace("@", "@another-"), "some-boot 4026531836")
    with BehaviourDB.open(tmp_path / "db") as database:
        for host in hosts:
            database.begin_run("k", "/bin/k", os.getpid(), "t", host=host, start_ticks=1)
        expire(database)
        assert [run.host for run in database.runs() if run.ended is not None] == [hosts[0]]


def test_a_zombie_claims_nothing() -> None:
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert start_ticks_of(child.pid) is None


def test_a_process_whose_first_thread_has_ended_is_alive() -> None:
    script = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(300,)).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as child:
        while ") Z " not in Path(f"/proc/{child.pid}/stat").read_text():
            time.sleep(0.01)
        assert start_ticks_of(child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert start_ticks_of(child.pid) is None


def test_a_locked_database_costs_the_claim_and_not_the_placement(tmp_path: Path) -> None:
    journal = journal_of(tmp_path / "db", os.getpid())
    holder = sqlite3.connect(tmp_path / "db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        cores, note = reserve(journal, 4)
    finally:
        holder.close()
    assert len(cores.cpus) == 4
    assert note == ""


def test_what_cannot_be_placed_claims_nothing(tmp_path: Path) -> None:
    journal = journal_of(tmp_path / "db", os.getpid())
    with pytest.raises(PlacementError):
        reserve(journal, 17)
    with BehaviourDB.open(tmp_path / "db") as database:
        assert claimed(live_runs(database)) == frozenset()
