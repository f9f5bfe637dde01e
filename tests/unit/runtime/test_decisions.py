"""The decision cache survives anything; policies are found without being named."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from topology_sysfs_tree import write_sysfs

from autofinity.model.affinity import HINTS, PACKED
from autofinity.model.errors import PolicyError, StoreError
from autofinity.policy.shipped import ANY_MACHINE, policy_names, policy_path
from autofinity.runtime.decisions import CachedDecision, read_decisions, write_decision
from autofinity.runtime.policies import Choice, chosen_policy, digest_of, user_policy
from autofinity.sim.preset import cpu_models_of, load_preset, preset_names


def decision(program: str = "a" * 64, threads: int = 8, policy: str = "p") -> CachedDecision:
    return CachedDecision(program, threads, policy, "llc", "m", PACKED, "0-47", "0-11")


@pytest.mark.parametrize("hint", HINTS)
def test_a_line_comes_back_as_it_was(hint: object) -> None:
    line = CachedDecision("k", 3, "p", "core", "m", hint, "0-3", "1")  # type: ignore[arg-type]
    assert CachedDecision.parse(line.line()) == line


def test_the_newest_decision_of_a_subject_replaces_the_older_one(tmp_path: Path) -> None:
    path = tmp_path / "decisions"
    write_decision(path, decision())
    write_decision(path, decision(threads=4))
    newer = CachedDecision("a" * 64, 8, "p", "llc", "m", HINTS[0], "0-47", "0,6")
    write_decision(path, newer)
    assert read_decisions(path) == (newer, decision(threads=4))
    assert path.read_text().splitlines()[0] == "autofinity-decisions 3"


def test_decisions_of_another_kind_of_machine_stay_beside_ours(tmp_path: Path) -> None:
    path = tmp_path / "decisions"
    write_decision(path, decision())
    elsewhere = dataclasses.replace(decision(), machine="n", mask="0,6")
    write_decision(path, elsewhere)
    assert read_decisions(path) == (elsewhere, decision())


@pytest.mark.parametrize(
    "text", ["", "nonsense", "autofinity-decisions 1\nx", "autofinity-decisions 3\n1 2 3\n\x00"]
)
def test_a_damaged_cache_is_empty(tmp_path: Path, text: str) -> None:
    path = tmp_path / "decisions"
    path.write_text(text)
    assert read_decisions(path) == ()


@pytest.mark.parametrize("seats", ["1", "*0", "1*0;", "1*0,", "0*0", "²*0", "1*0-"])
def test_a_line_with_damaged_seats_is_none(tmp_path: Path, seats: str) -> None:
    path = tmp_path / "decisions"
    write_decision(path, dataclasses.replace(decision(), seats=seats), decision(threads=4))
    assert read_decisions(path) == (decision(threads=4),)


def test_a_folder_that_is_gone_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        write_decision(tmp_path / "gone" / "decisions", decision())


def test_the_users_own_policy_is_asked_once_it_is_there(tmp_path: Path) -> None:
    own = tmp_path / "autofinity" / "policy.json"
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": "/nowhere"}
    assert user_policy(environment) == own
    before = chosen_policy(environment=environment)
    assert before is None or before.path != own
    own.parent.mkdir()
    own.touch()
    assert chosen_policy(environment=environment) == Choice(own, "the user's own")


@pytest.mark.parametrize("name", [name for name in preset_names() if cpu_models_of(name)])
def test_a_run_knows_the_machines_that_files_stand_for(name: str, tmp_path: Path) -> None:
    topology = load_preset(name).topology
    environment = {
        "AUTOFINITY_SYSFS": str(write_sysfs(tmp_path / "sys", topology)),
        "AUTOFINITY_CPUINFO": str(tmp_path / "cpuinfo"),
    }
    for model in cpu_models_of(name):
        implementer, _, part = model.partition(" ")
        arm = f"processor: 0\nCPU implementer: {implementer}\nCPU part: {part}\n"
        x86 = f"processor: 0\nmodel name: {model} @ 1 GHz\n"
        (tmp_path / "cpuinfo").write_text(arm if model.startswith("0x") else x86)
        chosen = chosen_policy(environment=environment)
        if name in policy_names():
            assert chosen == Choice(policy_path(name), "shipped for this machine")
        else:
            assert chosen is None or chosen.path.stem == ANY_MACHINE


def test_a_policy_that_is_not_there_has_no_digest(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        digest_of(tmp_path / "missing")
