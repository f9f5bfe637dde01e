"""The main job by its commands: suite → policy → judgement → header, on tiny inputs."""

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from commands import autofinity
from warm_commands import run_warm

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.in_run import Sampling, run_in
from autofinity.evaluation.switched import SwitchedRuns
from autofinity.evaluation.times import times_of
from autofinity.linux.capabilities import probe
from autofinity.model.affinity import PACKED, Hint
from autofinity.model.observation import Workload
from autofinity.model.policy import Instead, OtherCounts, RulePolicy, SecondLook
from autofinity.ports import RunRequest
from autofinity.sim.machine import SimMachine
from autofinity.store.observations import read

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("pricer", "pic", "prodcons")
CAMPAIGN = (
    *(word for program in PROGRAMS for word in ("--program", program)),
    *("--size", "tiny", "--affinities", "hints", "--period", "20us", "--threads", "4"),
)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one training, of which all workers of a parallel test run read."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "main job"  # a path with a space
    policy = folder / "policy.json"
    with (base / "main_job.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not policy.exists():
            autofinity("profile", *CAMPAIGN, "--work", str(folder))
            autofinity("train", *CAMPAIGN, "--work", str(folder), "-o", str(policy))
    return folder


def test_training_gives_a_policy_that_says_what_it_is_made_of(work: Path) -> None:
    policy = json.loads((work / "policy.json").read_text())
    assert policy["provenance"]["machine"] == "opteron-6164he"
    assert policy["provenance"]["suite"] == "training"
    assert policy["provenance"]["observations"]["programs"] == sorted(PROGRAMS)


def test_the_policy_can_be_shown_and_exported(work: Path) -> None:
    assert "else" in autofinity("show", str(work / "policy.json")).stdout
    header = work / "policy.h"
    autofinity("export", str(work / "policy.json"), "--format", "c", "-o", str(header))
    assert "autofinity_decide" in header.read_text()


def test_an_evaluation_judges_every_program_and_adds_up(work: Path) -> None:
    said = autofinity("evaluate", *CAMPAIGN, "--train-threads", "4", "--work", str(work), "--json")
    document = json.loads(said.stdout)
    assert [case["program"] for case in document["cases"]] == sorted(PROGRAMS)
    for case in document["cases"]:
        assert case["roi_s"]["oracle"] <= case["roi_s"]["best_hint"]
        assert case["roi_s"]["best_hint"] <= case["roi_s"]["autofinity"]
    summary = document["summary"]
    assert summary["interesting"] == sum(case["interesting"] for case in document["cases"])
    assert 0 < summary["oracle_ratio"] <= summary["hints"]["oracle_ratio"] <= 1
    assert summary["in_run"]["cases"] == summary["one_period"]["cases"] == len(PROGRAMS)
    assert summary["worst_vs_os"] == pytest.approx(
        min(c["roi_s"]["os"] / c["roi_s"]["autofinity"] for c in document["cases"]) - 1
    )
    low, high = summary["confidence"]["oracle_ratio"]
    assert low <= summary["oracle_ratio"] <= high
    assert {"compact", "random"} < document["cases"][0]["roi_s"].keys()
    assert summary["energy"]["best_hint_ratio"] <= 1


@pytest.mark.parametrize(
    ("second", "at_four"),
    [(None, None), ("sLP", None), ("slP", None), ("SLP", None), (None, "sLP"), ("sLP", "SlP")],
)
def test_a_switched_run_that_is_looked_up_takes_as_long_as_the_run_itself(
    work: Path, second: str | None, at_four: str | None
) -> None:
    table = read(work / "observations" / "opteron-6164he-20us")
    machine = SimMachine.preset("opteron-6164he")
    match = BestMatches(machine.topology)
    request = RunRequest(str(work / "traces" / "pic-tiny-4t"), threads=4)
    last = PACKED if second is None else Hint.parse(second)
    look = SecondLook(PACKED, (PACKED,), RulePolicy((), {}, (), last))
    policy = RulePolicy((), {}, (), PACKED, second=look if second else None)
    if at_four:
        instead = Instead(last, 4, 4, Hint.parse(at_four))
        policy = replace(policy, other_counts=OtherCounts(match.cores, (instead,)))
        last = instead.better
    looked_up = SwitchedRuns(table, times_of(table), match)(Workload("pic", "tiny", 4), policy)
    run = run_in(machine, request, policy, Sampling(20_000), seed=1)
    assert looked_up == pytest.approx(run.roi_s)
    assert match(4, run.hints[-1]) == match(4, last)


def test_a_given_policy_is_judged_instead_of_learned_ones(work: Path) -> None:
    said = autofinity(
        *("evaluate", *CAMPAIGN, "--work", str(work), "--policy", str(work / "policy.json")),
    )
    assert "of the oracle" in said.stdout


def test_a_policy_is_learned_for_energy_from_the_same_observations(work: Path) -> None:
    options = (*CAMPAIGN, "--work", str(work), "--metric=-energy", "--json")
    said = autofinity("train", *options, "-o", str(work / "energy.json"))
    policy = json.loads(said.stdout)
    assert policy["provenance"]["settings"]["metric"] == "-energy"
    assert policy == json.loads((work / "energy.json").read_text())
    speed = json.loads((work / "policy.json").read_text())["provenance"]
    assert policy["provenance"]["observations"] == speed["observations"]


def test_the_maintainers_script_makes_policy_header_and_figures(work: Path, tmp_path: Path) -> None:
    for folder in ("data/observations", "policies"):
        (tmp_path / folder).mkdir(parents=True)
    readme = tmp_path / "policies" / "README.md"
    readme.write_text((ROOT / "policies" / "README.md").read_text())
    observations = tmp_path / "data" / "observations" / "opteron-6164he.parquet"
    autofinity("profile", *CAMPAIGN, "--work", str(work), "-o", str(observations), "--pack")
    script = [sys.executable, ROOT / "scripts" / "policies.py", "--threads", "4"]
    done = subprocess.run(
        [*script, "--root", tmp_path, "--work", tmp_path / "work"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    names = {name for name in names if not name.startswith("work/judged/")}  # to go on from
    assert "`opteron-6164he.paper.json` | `opteron-6164he`, simulated" in readme.read_text()
    own = "policies/opteron-6164he.json" in names  # where it is better than that for any machine
    assert names == {
        "data/observations/opteron-6164he.parquet",
        "policies/README.md",
        "policies/any-machine.json",
        "work/any-machine.evaluation.json",
        "policies/opteron-6164he.paper.json",
        "work/opteron-6164he.paper.evaluation.json",
        *(("policies/opteron-6164he.json", "work/opteron-6164he.evaluation.json") * own),
    }
    if own:
        made_of = json.loads((tmp_path / "policies/opteron-6164he.json").read_text())["provenance"]
        packed = read(observations)
        assert made_of["observations"]["digest"] == packed.placed_by("affinity").digest()
    assert "`any-machine.json` | 1 machines, simulated | 3 training programs" in readme.read_text()
    assert "23 training programs" not in readme.read_text()


def test_what_is_there_is_not_measured_again(work: Path) -> None:
    folder = work / "observations" / "opteron-6164he-20us"
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    traces = {path: path.stat().st_mtime_ns for path in (work / "traces").glob("*/meta.json")}
    again = autofinity("profile", *CAMPAIGN, "--work", str(work), "--json")
    assert json.loads(again.stdout)["programs"] == sorted(PROGRAMS)
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert traces == {
        path: path.stat().st_mtime_ns for path in (work / "traces").glob("*/meta.json")
    }


def test_a_host_without_counters_says_so_and_offers_its_simulated_twin(tmp_path: Path) -> None:
    if probe()["hardware counters"].available:
        pytest.skip("this machine counts in hardware")
    options = ("--machine", "host", "--work", str(tmp_path), "-o", str(tmp_path / "policy.json"))
    said = autofinity("train", *options, code=1)
    assert "no hardware counters here" in said.stderr
    assert "--latencies assumed" in said.stderr
    twin = ("--latencies", "assumed", "--affinities", "hints", "--period", "20us")
    small = ("--program", "pricer", "--threads", "2", "--size", "tiny")
    autofinity("train", *options, *twin, *small)
    made_of = json.loads((tmp_path / "policy.json").read_text())["provenance"]
    assert made_of["machine"] == "host"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--machine", "pdp11"), "unknown machine 'pdp11'; expected one of"),
        (
            ("--machine", "xeon-x7550", "--latencies", "assumed"),
            "--latencies assumed: xeon-x7550 has its own",
        ),
        (("--machine", "synthetic:core:4"), "hwloc does not accept it"),
        (("--threads", "none"), "expected thread counts such as 8"),
        (("--period", "nan"), "nan: expected a length such as 500us"),
        (("--period", "infs"), "infs: expected a length such as 500us"),
        (("--pack",), "--pack: expected -o as well"),
        (("--threads", "4", "--affinities", "2"), "the hints alone have"),
        (("--affinities", "many"), "expected 'all', 'hints', a number, 'screen'"),
        (("--program", "pricr"), "did you mean pricer?"),
        (("--size", "huge"), "has no input of size 'huge'"),
        (("--suite", "/nonexistent.toml"), "/nonexistent.toml: cannot be read"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_clear_line(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run_warm(("profile", "--work", str(tmp_path), *arguments))
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["1", "2a", "9a", "10", "11"])
def test_a_figure_is_drawn_in_the_terminal(work: Path, name: str) -> None:
    observations = work / "observations" / "opteron-6164he-20us"
    options = ("--threads", "4", "--observations", str(observations))
    said = autofinity("figure", name, "--machine", "opteron-6164he", *options)
    lines = said.stdout.splitlines()
    assert lines[0].startswith(f"Figure {name}:")
    assert max(map(len, lines)) <= 80
    assert sum("█" in line or "│" in line for line in lines) > 1


def test_the_coverage_counts_what_each_program_adds(work: Path) -> None:
    observations = work / "observations" / "opteron-6164he-20us"
    options = ("--machine", "opteron-6164he", "--threads", "4", "--json")
    chosen = ("--selection", "cfs", "--features", "rates")
    found = json.loads(autofinity("coverage", str(observations), *options, *chosen).stdout)
    assert sorted(each["program"] for each in found["programs"]) == sorted(PROGRAMS)
    assert sum(each["new"] for each in found["programs"]) == found["programs"][-1]["cumulative"]
    assert found["adding_nothing"] == [p["program"] for p in found["programs"] if not p["own"]]
