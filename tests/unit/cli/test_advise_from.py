"""`autofinity advise --from`: the same advice as of a live sample, and what it refuses."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from measurement_files import FILES, FOLDER, MACHINE, PER_SECOND, POLICY, THREADS

from autofinity.cli.advise import command as advise
from autofinity.cli.explain import command as explain
from autofinity.cli.hints import command as hints
from autofinity.model.errors import MeasurementError, UsageError
from autofinity.policy.files import save

QUESTIONS = ["placement", "expected gain", "memory policy", "NUMA balancing", "SMT", "threads"]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policy") / "policy.json"
    save(POLICY, path)
    return str(path)


def told(*arguments: str) -> str:
    return CliRunner().invoke(advise, arguments, catch_exceptions=False).stdout


def of_file(name: str, *arguments: str) -> str:
    return told("--from", str(FOLDER / name), "-m", MACHINE, "-t", str(THREADS), *arguments)


def document(name: str, *arguments: str) -> dict[str, Any]:
    found = json.loads(of_file(name, "--json", *arguments))
    assert isinstance(found, dict)
    return found


def test_ranks_are_placed_by_the_hint_of_the_measured_one(policy: str) -> None:
    alone = document("own.json", "--policy", policy)["placement"]
    found = document("own.json", "--policy", policy, "--ranks", "2")["placement"]
    assert (found["hint"], found["cpus"]) == (alone["hint"], alone["cpus"])
    places = [set(rank["cpus"]) for rank in found["ranks"]]
    assert [len(cpus) for cpus in places] == [THREADS, THREADS]
    assert not places[0] & places[1]


@pytest.mark.parametrize("named", [MACHINE, "synthetic:pack:2 [numa] core:8 pu:1"])
def test_the_command_for_another_launcher_places_the_same_ranks_on_the_same_machine(
    named: str, policy: str
) -> None:
    asked = ("--policy", policy, "--ranks", "2", "-m", named)
    ranks = document("own.json", *asked)["placement"]["ranks"]
    text = of_file("own.json", *asked)
    (line,) = (line for line in text.splitlines() if "for another launcher: " in line)
    words = shlex.split(line.partition("for another launcher: ")[2])
    assert words[:2] == ["autofinity", "hints"]
    words = [*words[2:-1], "numactl", "--json"]
    done = CliRunner().invoke(hints, words, catch_exceptions=False)
    assert [rank["line"] for rank in ranks] == json.loads(done.stdout)["texts"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ranks", "2"), "`autofinity hints --ranks` needs no program"),
        (("--ranks", "2", "--curve", "auto", "--", "true"), "expected no --ranks"),
    ],
)
def test_ranks_without_a_measured_program_are_refused(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        told(*words)


def explained(*policy: str) -> dict[str, Any]:
    sample = ",".join(f"{counter}={value!r}" for counter, value in PER_SECOND.items())
    done = CliRunner().invoke(
        explain, [*policy, "--sample", sample, "--json"], catch_exceptions=False
    )
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_decision_is_that_of_the_same_sample_explained(name: str, policy: str) -> None:
    decision = document(name, "--policy", policy)["placement"]["decision"]
    wanted = explained(policy)
    assert (decision["hint"], decision["rule"]) == (wanted["hint"], wanted["rule"])
    assert decision["rules"] == wanted["rules"]
    assert decision["margin"] == pytest.approx(wanted["margin"])


def test_the_text_has_every_question_the_gain_too_and_what_the_file_lacks() -> None:
    lines = of_file("perf-stat-6.1.json").splitlines()
    assert lines[0] == f"advice on perf-stat-6.1.json, on {MACHINE}; nothing was done"
    heads = [line.partition(":")[0] for line in lines[1:] if line and not line.startswith(" ")]
    assert heads == [*QUESTIONS, "not in the file"]
    assert any(line.startswith("  taskset -c ") for line in lines)
    assert any(line.startswith("expected gain: ") and "times the" in line for line in lines)
    assert lines[-1] == "  not used: task-clock, node-load-misses:u (<not supported>)"


def test_json_has_the_same_objects_and_what_was_taken_from_the_file(policy: str) -> None:
    found = document("perf-stat-6.1.csv", "--policy", policy)
    live = {question.lower().replace(" ", "_") for question in QUESTIONS}
    assert found.keys() == live | {
        *("program", "machine", "watched_s", "exit_code", "not_measured", "given")
    }
    assert (found["watched_s"], found["exit_code"]) == (None, None)
    given = found["given"]
    assert (given["file"], given["format"]) == ("perf-stat-6.1.csv", "perf stat -x")
    assert given["per_second"] is True
    assert given["values"]["llc_misses"] == 3e6
    assert given["made_of"]["llc_misses"] == ["longest_lat_cache.miss:u"]
    assert (given["lacking"], given["measure"]) == ([], None)


def test_without_a_machine_it_is_of_this_one(policy: str) -> None:
    found = json.loads(told("--from", str(FOLDER / "own.csv"), "--policy", policy, "--json"))
    assert found["machine"] != "opteron-6164he"
    assert found["placement"]["threads"] == THREADS


def test_another_policy_may_be_named(policy: str) -> None:
    found = document("own.json", "--policy", policy)["placement"]
    assert found["policy"] == f"{policy}, named by --policy"
    assert (found["hint"], found["decision"]["rule"]) == ("slP", 0)


def test_names_of_foreign_events_are_no_commands_to_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text('{"counter-value" : "1", "event" : "\\u001b[2Jevil\\n"}\n')
    text = told("--from", str(path), "-m", MACHINE, "-t", "4")
    assert "\x1b" not in text
    assert "not used: \\x1b[2Jevil\\n" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "f", "trace"), "expected one of"),
        (("--from", "f", "--pid", "1"), "expected one of"),
        (("--from", "f", "--", "true"), "expected one of"),
        (("--from", "f", "--latencies", "xeon-8480"), "--latencies is for a TRACE"),
        (("--from", "f", "--curve", "auto"), "--curve: expected one of"),
        (("--from", "f", "--curve", "auto", "-p", "sor"), "--curve: expected one of"),
        (("--from", "f", "-p", "sor"), "are for --curve"),
        (("--from", "nowhere", "-m", MACHINE), "nowhere: cannot be read: No such file"),
        (("--from", str(FOLDER / "own.json"), "-m", "nowhere"), "unknown machine"),
        (("--from", str(FOLDER / "own.json"), "-m", MACHINE), "--threads COUNT"),
    ],
)
def test_what_it_refuses(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises((UsageError, MeasurementError), match=said):
        told(*arguments)
