"""Runs on record, as `explain` and `top` show them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from run_record import run_record
from topology_sysfs_tree import write_sysfs

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.model.ratios import Ratio
from autofinity.policy.files import save
from autofinity.policy.on_machine import on_machine
from autofinity.runtime.machine_facts import facts_here
from autofinity.runtime.policies import digest_of
from autofinity.sim.preset import load_preset
from autofinity.workflow.run_records import policy_of

STARVING = Rule((Condition("load", 0.5, math.inf),), SPREAD)
LOAD = Ratio("load", ("llc_misses",), ("cycles",), 1e3, "packed_lines_pkc")
POLICY = RulePolicy(("llc_misses", "cycles"), {"load": (0.5,)}, (STARVING,), PACKED, ratios=(LOAD,))


def test_the_policy_of_a_run_has_the_facts_of_the_machine_that_runs_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = load_preset("epyc-9654").topology
    (tmp_path / "cpuinfo").write_text("model name\t: AMD EPYC 9654 96-Core Processor\n")
    monkeypatch.setenv("AUTOFINITY_CPUINFO", str(tmp_path / "cpuinfo"))
    monkeypatch.setenv("AUTOFINITY_SYSFS", str(write_sysfs(tmp_path / "sys", topology)))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    save(POLICY, path := tmp_path / "policy.json")
    run = run_record(threads=8, policy=digest_of(path), policy_path=str(path))
    found, trouble = policy_of(run)
    assert (found, trouble) == (on_machine(POLICY, facts_here(topology)(8)), "")
    assert found.rules, "the machine's facts are known"
