"""The hardware step of the ladder, on a PMU that is made of software events."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, fake_sysfs, masks_of
from permitted import needs_perf, needs_two_cpus, needs_x86

from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf_event import open_event
from autofinity.model.affinity import Hint
from autofinity.model.errors import StoreError
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.files import save
from autofinity.store.behaviour_db import BehaviourDB

type Runner = Any  # of conftest.py


pytestmark = [needs_perf, needs_x86, needs_two_cpus]

FIRED, OTHERWISE = Hint.parse("sLP"), Hint.parse("SLP")


def test_the_policy_gets_its_counters_and_its_rule_decides(
    run: Runner, spinner: Path, fake_pmu: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.json"
    busy = Rule((Condition("cycles", 1e6, float("inf")),), FIRED)
    save(RulePolicy(("cycles",), {"cycles": (1e6,)}, (busy,), OTHERWISE), policy)
    python = _with_pmu(tmp_path / "python", fake_pmu)
    # The first perf event of a system takes longer than the launcher waits; this is it.
    first = open_event(Encoding(1, 1), 0)
    began_s = time.monotonic()
    with run.lasting(
        *("--policy", policy, "--period", "0.3s", "--", spinner, "2", "300"),
        env=run.env | {"LD_PRELOAD": str(fake_pmu), "AUTOFINITY_PYTHON": str(python)},
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        os.close(first)
        in_time = b"placing by hardware counters and the policy" in said
        assert in_time or b"still starting" in said
        assert run.eventually(lambda: _hint(run.db)) == FIRED
        assert run.eventually(lambda: _cpu_s(process.pid) > 0.4)
        used_s = _cpu_s(process.pid)
    lasted_s = time.monotonic() - began_s

    def ended() -> bool:
        with BehaviourDB.open(run.db, read_only=True) as database:
            return database.runs()[0].ended is not None

    assert run.eventually(ended)
    with BehaviourDB.open(run.db, read_only=True) as database:
        (known,) = database.programs()
        record = database.runs()[0]
    assert record.tier == known.tier == "hardware counters"
    assert known.hint == FIRED
    assert "not measured" not in record.notes
    assert "cannot count" not in record.notes
    # A pretended cycle is a nanosecond on a CPU: at most 10⁹ a thread and second.
    assert 1e6 < known.sample["cycles"] < 1.1e9
    # Cycles and instructions are the same pretended clock, read at once. /proc is read at another
    # moment, between which and this one a busy system may run something else for as long as a
    # sample: so CPU time is compared over the whole run, below.
    assert known.sample["cycles"] == pytest.approx(known.sample["instructions"], rel=0.01)
    # Totals cover the whole run and every thread: the main thread alone has next to none.
    # Where the counters were open too late for that, there are no totals.
    if record.totals:
        assert 0.9e9 * used_s < record.totals["cycles"] < 2e9 * lasted_s
        assert record.totals["instructions"] > 0
    else:
        assert not in_time


def test_a_counter_this_cpu_has_not_is_noted_and_threads_stay_where_it_could_decide(
    run: Runner, spinner: Path, fake_pmu: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.json"
    save(_asking("no_such_event", "cycles"), policy)
    python = _with_pmu(tmp_path / "python", fake_pmu)
    with run.lasting(
        *("--quiet", "--policy", policy, "--period", "0.3s", "--", spinner, "2", "300"),
        env=run.env | {"LD_PRELOAD": str(fake_pmu), "AUTOFINITY_PYTHON": str(python)},
    ):
        assert run.eventually(lambda: (found := run.last()) and found.phase == "left alone")
        notes = run.last().notes
        assert "this CPU has no event for no_such_event: rule 1 cannot be asked" in notes
        assert "depends on what cannot be measured here (no_such_event)" in notes
    assert _hint(run.db) is None


def test_where_this_cpu_has_none_of_the_counters_nobody_is_bound(
    run: Runner, spinner: Path, fake_pmu: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.json"
    save(_asking("no_such_event"), policy)
    env = run.env | {
        "LD_PRELOAD": str(fake_pmu),
        "AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path)),
    }
    words = ("--quiet", "--policy", policy, "--period", "0.3s", "--", spinner, "2", "300")
    with run.lasting(*words, env=env) as process:
        assert run.eventually(lambda: (found := run.last()) and found.phase == "left alone")
        assert set(masks_of(process.pid)) == {allowed()}
        notes = run.last().notes
        assert "this CPU has no event for no_such_event" in notes
        assert "cannot be asked" not in notes
        assert "no counter of the policy's rules can be measured here" in notes
    assert _hint(run.db) is None


def _with_pmu(python: Path, fake_pmu: Path) -> Path:
    """A Python that has the PMU: the monitor's environment is cleaned of LD_PRELOAD."""
    python.write_text(f'#!/bin/sh\nLD_PRELOAD={fake_pmu} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


def _asking(*counters: str) -> RulePolicy:
    """A policy with a rule for each counter, which fires beyond what a thread can do."""
    rules = tuple(Rule((Condition(each, 1e12, float("inf")),), FIRED) for each in counters)
    return RulePolicy(counters, dict.fromkeys(counters, (1e12,)), rules, OTHERWISE)


def _hint(db: Path) -> Hint | None:
    try:
        with BehaviourDB.open(db, read_only=True) as database:
            known = database.programs()
    except StoreError:  # the monitor is just making it
        return None
    return known[0].hint if known else None


def _cpu_s(pid: int) -> float:
    """CPU time of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
