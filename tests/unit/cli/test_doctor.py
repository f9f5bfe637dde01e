"""`autofinity doctor`: what the policy asks for that this CPU cannot count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity.cli.doctor import command
from autofinity.model.affinity import Hint
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.files import save

NAME = "policy's counters"


def asks_for(counter: str, path: Path) -> Path:
    rule = Rule((Condition(counter, 1.0, float("inf")),), Hint.parse("slp"))
    save(RulePolicy((counter,), {counter: (1.0,)}, (rule,), Hint.parse("SLP")), path)
    return path


def capabilities(policy: Path) -> dict[str, dict[str, object]]:
    done = CliRunner().invoke(command, ["--json"], env={"AUTOFINITY_POLICY": str(policy)})
    assert done.exit_code == 0, done.output
    return {each["name"]: each for each in json.loads(done.output)["capabilities"]}


def test_it_says_what_a_run_does_without_the_counters_that_this_cpu_has_not(
    tmp_path: Path,
) -> None:
    found = capabilities(asks_for("no_such_event", tmp_path / "p.json"))[NAME]
    assert found["available"] is False
    assert found["detail"] == (
        "no event for no_such_event: threads stay where the system puts them"
    )


@pytest.mark.parametrize("counter", ["instructions", "page_faults"])
def test_what_every_cpu_or_the_kernel_counts_is_there(counter: str, tmp_path: Path) -> None:
    found = capabilities(asks_for(counter, tmp_path / "p.json"))[NAME]
    assert found["available"] is True
    assert found["detail"] == f"this CPU has events for {counter}"


def test_a_policy_that_cannot_be_read_has_no_counters_to_speak_of(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("{")
    assert NAME not in capabilities(tmp_path / "p.json")
    assert NAME not in capabilities(tmp_path / "missing.json")


def test_it_says_whether_finished_runs_can_be_sent_to_the_site(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def site(url: str) -> dict[str, object] | None:
        done = CliRunner().invoke(command, ["--json"], env={"AUTOFINITY_SITE_DB": url})
        found = {each["name"]: each for each in json.loads(done.output)["capabilities"]}
        assert "secret" not in done.output
        return found.get("site's database")

    assert site("") is None
    wrong = site("a-file")
    assert wrong is not None and wrong["available"] is False
    right = site("postgresql://me:secret@db.example/runs")
    assert right is not None and right["available"] is True
    assert right["detail"] == "postgresql://me@db.example/runs: finished runs are sent there"
    monkeypatch.setattr("autofinity.cli.doctor.can_open", lambda: False)
    missing = site("postgresql://me:secret@db.example/runs")
    assert missing is not None and missing["remedy"] == "pip install 'autofinity[site]'"
