"""`autofinity advise` on captured programs, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from memory_programs import initialised_by_one, own_pages
from sim_programs import kept

from autofinity.cli.advise import command as advise
from autofinity.model.affinity import PACKED
from autofinity.model.errors import AutofinityError, TraceError, UsageError
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import save
from autofinity.workflow import policies

THREADS = 4


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policy") / "packed.json"
    save(RulePolicy(("instructions",), {}, (), PACKED), path)
    return str(path)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """All pages are touched first by one thread, and are read from memory ever after."""
    program = initialised_by_one(THREADS, 600, 6)
    return kept(program, tmp_path_factory.mktemp("trace") / "one")


def told(*arguments: str) -> str:
    return CliRunner().invoke(advise, arguments, catch_exceptions=False).stdout


def _evidence(found: dict[str, Any]) -> list[str]:
    return [str(line) for line in found["placement"]["evidence"]]


def document(*arguments: str) -> dict[str, Any]:
    found = json.loads(told(*arguments, "--json"))
    assert isinstance(found, dict)
    return found


def test_a_captured_program_is_advised_on_as_it_runs_on_the_simulated_machine(
    trace: str, policy: str
) -> None:
    found = document(trace, "-t", str(THREADS), "--policy", policy)
    assert (found["program"], found["machine"]) == ("one", "opteron-6164he")
    assert found["exit_code"] is None
    assert found["placement"]["hint"] == "slp"
    assert found["placement"]["cpus"] == [0, 1, 2, 3]
    assert found["placement"]["lines"]["taskset"] == "taskset -c 0-3"
    assert found["expected_gain"]["gain"] is None
    assert found["memory_policy"]["remote_share_by"] == "counted reads"
    assert found["memory_policy"]["remote_share"] > 0.5
    assert max(found["memory_policy"]["bytes_on_node"]) >= THREADS * 600 * 4096
    assert found["numa_balancing"]["state"] is None
    assert found["smt"]["cores"] == 48
    assert 0 < found["threads"]["used_share"] <= 1.2


def test_threads_of_a_trace_that_ends_before_a_decision_are_drawn_over_time(
    policy: str, tmp_path: Path
) -> None:
    short = kept(initialised_by_one(THREADS, 20, 2), tmp_path / "short")
    page = tmp_path / "page.html"
    said = told(short, "-t", str(THREADS), "--policy", policy, "--html", str(page))
    assert "nothing was decided" in said
    text = page.read_text()
    assert "No thread was seen to compute." not in text
    assert all(f'"name":"thread {number}"' in text for number in range(THREADS))


def test_the_text_has_every_question_with_its_advice_first(trace: str, policy: str) -> None:
    lines = told(trace, "-t", str(THREADS), "--policy", policy).splitlines()
    assert lines[0] == "advice on one, on opteron-6164he; nothing was done"
    heads = [line.partition(":")[0] for line in lines[1:] if line and not line.startswith(" ")]
    assert heads == [
        "placement",
        "expected gain",
        "memory policy",
        "NUMA balancing",
        "SMT",
        "threads",
    ]
    assert "  taskset -c 0-3 PROGRAM" in lines


def test_one_node_of_a_machine_leaves_nothing_to_choose_of_memory(
    tmp_path: Path, policy: str
) -> None:
    folder = kept(own_pages(2, 8, 2000), tmp_path / "own")
    found = document(folder, "-t", "2", "--policy", policy, "-m", "i9-13900k")
    assert found["memory_policy"]["advice"].startswith("one NUMA node")
    assert found["numa_balancing"]["advice"].startswith("one NUMA node")


def test_without_any_policy_threads_are_left_where_they_are(
    trace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "policy_for", lambda machine, reporter: None)
    machine = "synthetic:pack:2 numa:2 l3:1 core:4 pu:1"
    found = document(trace, "-t", str(THREADS), "-m", machine)
    assert found["placement"]["hint"] is None
    assert "no policy" in found["placement"]["evidence"][0]
    assert found["memory_policy"]["bytes_on_node"] is not None


def test_a_program_that_ends_before_it_was_sampled_is_told_so(tmp_path: Path, policy: str) -> None:
    folder = kept(own_pages(2, 8, 4), tmp_path / "short")
    found = document(folder, "-t", "2", "--policy", policy)
    assert found["placement"]["hint"] is None
    assert found["memory_policy"]["bytes_on_node"] is None
    assert found["memory_policy"]["advice"].endswith("before the nodes of its pages were read")
    # The decider's looks take tenths of a second; the program ran for less than a millisecond.
    assert 0 < found["watched_s"] < 1e-3
    watched = f"{found['watched_s'] * 1e3:.3g} ms of simulated time"
    assert f"in the {watched} that the program was watched" in found["placement"]["undecided"]
    assert any(watched in line and "1 s of a run" in line for line in _evidence(found))


@pytest.mark.parametrize(
    "arguments", [(), ("trace", "--pid", "1"), ("--pid", "1", "--", "true"), ("--",)]
)
def test_one_program_is_advised_on_at_a_time(arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="expected one of"):
        told(*arguments)


def test_a_curve_of_a_captured_program_is_a_table_bars_and_json(trace: str, policy: str) -> None:
    asked = (trace, "-t", str(THREADS), "--policy", policy, "--curve")
    lines = told(*asked, "auto").splitlines()
    assert lines[0] == "CPUs of one, on opteron-6164he"
    assert lines[2].startswith("CPUs: ")
    assert "speed, by CPUs" in lines
    assert [line for line in lines if line in ("1", "2", "4")] == ["1", "2", "4"]
    found = document(*asked, "2,4")
    assert (found["program"], found["machine"]) == ("one", "opteron-6164he")
    assert [(p["threads"], p["cpus"], p["cores"]) for p in found["points"]] == [
        (4, 2, 2),
        (4, 4, 4),
    ]
    first, second = found["points"]
    assert first["speed"] == 1.0
    assert second["speed"] == pytest.approx(first["time_s"] / second["time_s"])
    assert found["enough"] in (2, 4)
    assert {point["hint"] for point in found["points"]} == {"slp"}
    assert all(point["best_time_s"] <= point["time_s"] for point in found["points"])
    scatters = [point["scatter"] for point in found["points"]]
    assert found["scatter"] == max(scatters) >= 0
    assert found["noise"] == max(0.05, found["scatter"])
    assert set(found["alike"]) <= {2, 4} and found["enough"] == found["alike"][0]
    assert any(line.startswith("  differences up to ") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--curve", "auto"), "expected one of: the folder of a trace"),
        (("--curve", "auto", "--pid", "1"), "expected one of"),
        (("--curve", "auto", "trace", "--", "true"), "expected one of"),
        (("--curve", "auto", "-p", "sor", "-p", "lu"), "expected one of"),
        (("--curve", "auto", "--"), "expected one of"),
        (("--curve", "2", "-t", "2", "-p", "sor"), "--threads and --curve both say how many"),
        (("--curve", "2", "--repeats", "2", "-p", "sor"), "--repeats is for"),
        (("-p", "sor"), "are for --curve"),
        (("--repeats", "2", "--", "true"), "are for --curve"),
        (("--curve", "99", "-p", "sor"), "48 CPUs may be used"),
    ],
)
def test_a_curve_is_of_one_program_whose_threads_it_varies(
    arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        told(*arguments)


@pytest.mark.parametrize("counts", ["", "0", "2,,4", "2,-1", "many"])
def test_counts_that_cannot_be_are_refused(counts: str) -> None:
    done = CliRunner().invoke(advise, ["--curve", counts, "--", "true"])
    assert done.exit_code == 2
    assert "expected auto, or counts such as 4,8,16" in done.output


def test_what_is_no_trace_policy_or_machine_is_refused(trace: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError):
        told(str(tmp_path), "-t", "2")
    with pytest.raises(AutofinityError, match="there is no policy"):
        told(trace, "-t", "4", "--policy", "nowhere")
    with pytest.raises(UsageError, match="unknown machine"):
        told(trace, "-t", "4", "-m", "nowhere")
