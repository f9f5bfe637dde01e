"""Runs are learned from: rows → growth → rebuild → another policy → old hints dropped → again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from live_masks import fake_sysfs
from permitted import needs_perf, needs_two_cpus, needs_x86
from warm_commands import run_warm

from autofinity.affinity.hints import get_affinity
from autofinity.learning.own_runs import own_runs
from autofinity.learning.settings import PAPER
from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf_event import open_event
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.affinity import PACKED, SPREAD, Affinity, Hint
from autofinity.model.counters import CounterSample
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.policy.files import load, save
from autofinity.policy.selector import decide
from autofinity.ports import Action, BindThreads, Interval, Outcome, ThreadEvent
from autofinity.runtime.decider import LivePolicy
from autofinity.runtime.journal import Journal
from autofinity.runtime.live_state import Settings
from autofinity.runtime.loop import run_loop
from autofinity.runtime.machine_text import machine_text
from autofinity.runtime.policies import digest_of
from autofinity.runtime.run_header import RunHeader
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.observations import table_of, write_one
from autofinity.store.rebuild_mark import RebuildMark

type Runner = Any  # of conftest.py

SETTINGS = replace(PAPER, leeway=0, bin_number="fixed", learner="ripper")
TIER = "hardware counters"
PACKED_PAIR, SPREAD_PAIR = Affinity.parse("{2}"), Affinity.parse("{1}{1}")


def old_policy(path: Path, counter: str) -> Path:
    """A policy that packs whatever it meets; its settings need no Java."""
    made_of = {"machine": "elsewhere", "settings": SETTINGS.as_dict()}
    path.parent.mkdir(parents=True, exist_ok=True)
    save(RulePolicy((counter,), {counter: (1.0,)}, (), PACKED, made_of), path)
    return path


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """A machine of two sockets with two last-level caches of two cores each, or more of them."""
    cpus = range(max(8, max(os.sched_getaffinity(0)) + 1))
    return fake_sysfs(tmp_path, list(map(OsIndex, cpus)), cores_of_llc=2, cores_of_socket=4)


@dataclass
class Scripted:
    """Two threads whose progress depends on where they are bound."""

    accesses: int
    """Data cache accesses a second and thread, which distinguish the programs."""
    likes_packed: bool
    now: int = 0
    turn: int = 0
    caches: set[int] = field(default_factory=set)

    def advance(self, duration_ns: int) -> Interval:
        start, self.now, self.turn = self.now, self.now + duration_ns, self.turn + 1
        events = [ThreadEvent("begin", n, 100 + n, start) for n in (0, 1) if self.turn == 1]
        happy = (len(self.caches) == 1) == self.likes_packed
        counts = {
            "task_clock_ns": duration_ns,
            "instructions": duration_ns * (3 if happy else 2),
            "accesses": self.accesses * duration_ns // 1_000_000_000,
        }
        samples = tuple(
            CounterSample(100 + n, start, self.now, counts, duration_ns, duration_ns)
            for n in (0, 1)
        )
        return Interval(start, self.now, samples, tuple(events), ended=self.turn >= 40)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        for action in actions:
            assert isinstance(action, BindThreads)
            self.caches = {min(mask) for mask in action.placement.masks if mask}
        return Outcome(2, 0)


def live(db: Path, policy: Path, sysfs: Path, program: str, process: Scripted) -> None:
    """The monitor's loop, on a scripted program."""
    topology = read_sysfs(sysfs, allowed=frozenset(range(8)))
    header = RunHeader(
        program, f"/bin/{program}", 42, TIER, 2, digest_of(policy), "llc", "0-7",
        machine_text(topology),
    )  # fmt: skip
    journal = Journal(db, header)
    mechanism = LivePolicy(
        topology,
        load(policy),
        decide,
        lambda: topology.allowed,
        journal.answer_on_record,
        Settings(threads=2, bind="llc"),
    )
    start = mechanism.begin(topology, topology.allowed, 2)
    run_loop(process, mechanism, start, mechanism.period_ns, journal)
    journal.end({})


def ask(env: Mapping[str, str], *words: str | Path) -> subprocess.CompletedProcess[str]:
    return run_warm(["rebuild", *words], env=env)


def hints(db: Path) -> dict[str, tuple[Hint | None, str | None]]:
    with BehaviourDB.open(db, read_only=True) as database:
        return {known.program: (known.hint, known.policy) for known in database.programs()}


def test_runs_grow_into_another_policy_that_decides_anew(
    run: Runner, sysfs: Path, tmp_path: Path
) -> None:
    old = old_policy(tmp_path / "old.json", "accesses")
    own = Path(run.env["XDG_CONFIG_HOME"]) / "autofinity" / "policy.json"
    env = run.env | {"AUTOFINITY_SYSFS": str(sysfs)}
    run.db.parent.mkdir(parents=True)
    for number in range(4):
        live(run.db, old, sysfs, f"few{number}", Scripted(125_000_000 * number, True))
    early = ask(env, "--policy", old, "--if-due", "--json")
    assert json.loads(early.stdout)["rebuilt"] is False, early.stderr
    for number in range(4):
        live(run.db, old, sysfs, f"many{number}", Scripted(125_000_000 * (4 + number), False))
    assert set(hints(run.db).values()) == {(PACKED, digest_of(old))}
    with BehaviourDB.open(run.db, read_only=True) as database:
        rows = database.observations()
        assert RebuildMark(database.session).due()
    # Each program once in the starting affinity and once in the chosen one.
    assert [(row.program, row.affinity) for row in rows[:2]] == [
        ("few0", SPREAD_PAIR),
        ("few0", PACKED_PAIR),
    ]
    assert len(rows) == 16
    assert rows[0].sample["instructions"] == pytest.approx(2e9)
    assert rows[1].sample["instructions"] == pytest.approx(3e9)

    tried = ask(env, "--policy", old, "--dry-run", "--json")
    assert json.loads(tried.stdout)["own_rows"] == 16, tried.stderr
    assert not own.exists()
    done = ask(env, "--policy", old, "--if-due", "--json")
    said = json.loads(done.stdout)
    assert said["rebuilt"], done.stderr
    assert said["digest"] == digest_of(own) != said["old_digest"] == digest_of(old)
    assert json.loads(ask(env, "--if-due", "--json").stdout)["rebuilt"] is False

    # It has learned what the scripts say, and keeps to the counters and settings it had.
    learned = load(own)
    assert learned.counters == ("accesses",)
    assert said["rules"] == 1
    packs = decide(learned, {"accesses": 1e8}).hint
    assert get_affinity(read_sysfs(sysfs, allowed=frozenset(range(8))), 2, packs).affinity == (
        PACKED_PAIR
    )
    assert decide(learned, {"accesses": 9e8}).hint == SPREAD
    assert learned.provenance["rebuilt_from"] == digest_of(old)
    settings = learned.provenance["settings"]
    assert isinstance(settings, Mapping) and settings["leeway"] == 0

    live(run.db, own, sysfs, "many0", Scripted(500_000_000, False))
    assert hints(run.db)["many0"] == (SPREAD, digest_of(own))
    assert hints(run.db)["many1"] == (PACKED, digest_of(old))  # dropped when it is met


def test_observations_of_this_machine_are_joined_and_others_are_not(
    run: Runner, sysfs: Path, tmp_path: Path
) -> None:
    old = old_policy(tmp_path / "old.json", "accesses")
    env = run.env | {"AUTOFINITY_SYSFS": str(sysfs)}
    machine = machine_text(read_sysfs(sysfs))
    with BehaviourDB.open(run.db) as database:
        for program in ("a", "b"):
            number = database.begin_run(program, f"/bin/{program}", 1, TIER)
            for affinity, rate in ((SPREAD_PAIR, 3e9), (PACKED_PAIR, 2e9)):
                sample = {"instructions": rate, "accesses": 1e6}
                database.remember_observation(
                    number, program, 2, affinity, machine, sample, TIER
                )  # fmt: skip
        rows = database.observations()
    for name in ("host", "elsewhere"):
        profiled = [
            replace(row, program="profiled")
            for row in own_runs(rows[:2], ("accesses",), machine, name, "1").observations
        ]
        write_one(table_of(profiled), tmp_path / f"{name}.parquet")

    def rebuilt(name: str) -> Any:
        done = ask(
            env, "--policy", old, "--observations", tmp_path / name, "--dry-run", "--json"
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert rebuilt("host.parquet")["joined_rows"] == 2
    alone = rebuilt("elsewhere.parquet")
    assert alone["joined_rows"] == 0
    assert alone["own_rows"] == 4
    assert any("of elsewhere, not of this machine" in note for note in alone["notes"])


def test_what_cannot_be_learned_from_is_counted_and_said(
    run: Runner, sysfs: Path, tmp_path: Path
) -> None:
    old = old_policy(tmp_path / "old.json", "accesses")
    env = run.env | {"AUTOFINITY_SYSFS": str(sysfs)}
    nothing = ask(env, "--policy", old)
    assert nothing.returncode == 1
    assert "nothing has been run yet" in nothing.stderr
    machine = machine_text(read_sysfs(sysfs))
    with BehaviourDB.open(run.db) as database:
        number = database.begin_run("k", "/bin/k", 1, TIER)
        full = {"instructions": 1e9, "accesses": 1e6}
        for where, sample in (
            (machine, {"task_clock_ns": 1e9}),
            (machine, {"instructions": 1e9}),
            ("another machine", full),
            (machine, full),
        ):
            database.remember_observation(number, "k", 2, SPREAD_PAIR, where, sample, TIER)
    done = ask(env, "--policy", old)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    for words in (
        "1 learnable rows, 0 programs in two affinities",
        "1 without hardware counters",
        "1 without a counter that the policy asks for",
        "1 of another machine",
    ):
        assert words in done.stderr


@needs_perf
@needs_x86
@needs_two_cpus
def test_a_run_starts_a_rebuild_that_is_due_and_the_next_run_asks_the_new_policy(
    run: Runner, spinner: Path, fake_pmu: Path, sysfs: Path, tmp_path: Path
) -> None:
    own = old_policy(Path(run.env["XDG_CONFIG_HOME"]) / "autofinity" / "policy.json", "cycles")
    before = digest_of(own)
    machine = machine_text(read_sysfs(sysfs))
    with BehaviourDB.open(run.db) as database:
        for program in ("a", "b", "c", "d", "e"):  # what five earlier runs have left
            number = database.begin_run(program, f"/bin/{program}", 1, TIER)
            for affinity, rate in ((SPREAD_PAIR, 3e9), (PACKED_PAIR, 2e9)):
                sample = {"instructions": rate, "cycles": 1e9}
                database.remember_observation(
                    number, program, 2, affinity, machine, sample, TIER
                )  # fmt: skip
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nLD_PRELOAD={fake_pmu} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    env = run.env | {
        "LD_PRELOAD": str(fake_pmu),
        "AUTOFINITY_PYTHON": str(python),
        "AUTOFINITY_SYSFS": str(sysfs),
    }
    options = ("--quiet", "--auto-rebuild", "--threads", "2", "--period", "0.3s", "--", spinner)
    first = open_event(Encoding(1, 1), 0)  # the first of a system takes longer
    with run.lasting(*options, "2", "300", env=env):
        assert run.eventually(lambda: [p for _, p in hints(run.db).values()] == [before])
    os.close(first)
    with BehaviourDB.open(run.db, read_only=True) as database:
        row = database.observations()[-1]
    assert row.tier == TIER
    assert row.affinity.threads == 2
    assert 1e6 < row.sample["instructions"] < 1.1e9

    log = run.db.with_name("rebuild.log")
    assert run.eventually(lambda: digest_of(own) != before), log.read_text()
    after = digest_of(own)
    assert run.eventually(lambda: "retrained: " in log.read_text())
    assert load(own).default == SPREAD
    with run.lasting(*options, "2", "300", env=env):
        assert run.eventually(lambda: [*hints(run.db).values()] == [(SPREAD, after)])
