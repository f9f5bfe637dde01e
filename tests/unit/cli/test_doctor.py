"""`autofinity doctor`: what the policy asks for that this CPU cannot count."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from autofinity.cli.doctor import command
from autofinity.cli.doctor_text import SECTIONS, in_short, shown_lines
from autofinity.linux.capabilities import Capability
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
    every = capabilities(asks_for(counter, tmp_path / "p.json"))
    found, counted = every[NAME], every["hardware counters"]["available"]
    assert found["available"] == (counted or counter == "page_faults")
    unread = "" if found["available"] else "; no hardware counter can be read here"
    assert found["detail"] == f"this CPU has events for {counter}{unread}"
    assert counted or not every["cross-core events"]["available"]


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


def told(columns: int | None = None, **environment: str) -> list[str]:
    env = {"COLUMNS": str(columns) if columns else None, **environment}
    done = CliRunner().invoke(command, [], env=env)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


@pytest.mark.parametrize("columns", [80, 200])
def test_every_line_fits_80_columns(columns: int, tmp_path: Path) -> None:
    policy = asks_for("no_such_event", tmp_path / f"{'long' * 30}.json")
    assert max(map(cell_len, told(columns, AUTOFINITY_POLICY=str(policy)))) <= 80


def test_in_a_pipe_no_line_is_broken(tmp_path: Path) -> None:
    policy = asks_for("no_such_event", tmp_path / f"{'long' * 30}.json")
    lines = told(AUTOFINITY_POLICY=str(policy))
    assert any(line.startswith(f"yes  policy of a run: {policy}, ") for line in lines)
    assert [line for line in lines if line != line.rstrip()] == []
    document = json.loads(
        CliRunner().invoke(command, ["--json"], env={"AUTOFINITY_POLICY": str(policy)}).stdout
    )
    for each in document["capabilities"]:
        assert any(each["detail"] in line for line in lines)
        assert any(each["remedy"] in line for line in lines)


def test_every_capability_of_the_document_is_in_the_text_in_plain_words() -> None:
    listed = [name for section in SECTIONS.values() for name in section]
    assert len(set(listed)) == len(listed)
    url = {"AUTOFINITY_SITE_DB": "postgresql://me@db.example/runs"}
    done = CliRunner().invoke(command, ["--json"], env=url)
    found = json.loads(done.stdout)["capabilities"]
    assert {each["name"] for each in found} == set(listed)
    text = "\n".join(told(**url))
    for section in SECTIONS.values():
        for shown, _ in section.values():
            assert len(re.findall(rf"^(?:yes|no )  {shown}(?::| \()", text, re.MULTILINE)) == 1


def test_what_is_missing_says_what_it_is_for_and_what_helps() -> None:
    missing = Capability("hardware counters", False, "EACCES: too little", "sudo sysctl a=2")
    lines = shown_lines("hardware counters", "most rules compare them", missing)
    assert lines == [
        "hardware counters (most rules compare them)",
        "EACCES: too little",
        "to enable: sudo sysctl a=2",
    ]
    there = Capability("hardware counters", True, "permitted")
    assert shown_lines("hardware counters", "", there) == ["hardware counters: permitted"]


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ((), "and places its threads by hardware counters and the policy below."),
        (("last-level caches",), "there is nothing to choose between."),
        (("policy's needs",), "none of the counters that the policy compares can be measured."),
        (("last-level caches", "thread binding"), "threads cannot be bound."),
        (("NUMA nodes", "speeds"), "and places its threads by hardware counters and the policy"),
    ],
)
def test_the_first_sentence_says_what_a_run_does_here(missing: tuple[str, ...], said: str) -> None:
    names = [name for section in SECTIONS.values() for name in section]
    found = {name: Capability(name, name not in missing, "") for name in names}
    assert said in in_short("hardware counters", found)


def test_the_document_has_the_first_sentence_and_the_policies_of_the_text() -> None:
    done = CliRunner().invoke(command, ["--json"])
    document, text = json.loads(done.stdout), " ".join(" ".join(told()).split())
    assert document["summary"].startswith("`autofinity run` starts a program here, and ")
    assert text.startswith(f"In short: {document['summary']} ")
    assert "any-machine" in document["policies"]
    assert text.endswith(f"`autofinity run --policy NAME`: {', '.join(document['policies'])}.")


def test_a_machine_with_one_of_them_lacks_several() -> None:
    actions = [*SECTIONS.values()][-1]
    assert actions["last-level caches"][0] == "several last-level caches"
    assert actions["NUMA nodes"][0] == "several NUMA nodes"


def test_events_that_cannot_be_read_are_not_called_missing(tmp_path: Path) -> None:
    policy = asks_for("no_such_event", tmp_path / "p.json")
    lines = told(AUTOFINITY_POLICY=str(policy))
    at = next(n for n, line in enumerate(lines) if line.startswith("no   all of its counters ("))
    assert "no event for no_such_event: " in " ".join(lines[at : at + 4])
