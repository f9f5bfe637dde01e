"""Threads leave the places that the system gave them for something that was measured of them, or at
their user's word.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, fake_sysfs, in_caches_of_their_own, masks_of
from live_run import preferred
from permitted import needs_two_cpus

from autofinity.linux.capabilities import probe
from autofinity.model.affinity import PACKED, Hint
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.policy.files import save
from autofinity.runtime.evidence import HARDWARE
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.workflow.policies import named_policy

type Runner = Any  # of conftest.py

PERIOD = "0.2s"
needs_no_pmu = pytest.mark.skipif(
    probe().tier == HARDWARE, reason="there are hardware counters here: rules can be asked"
)


@pytest.fixture
def blind(tmp_path: Path) -> Path:
    """A policy whose rules ask for what no machine counts."""
    path = tmp_path / "blind.json"
    rule = Rule((Condition("no_such_event", 1.0, float("inf")),), PACKED)
    save(RulePolicy(("no_such_event",), {"no_such_event": (1.0,)}, (rule,), PACKED), path)
    return path


@pytest.fixture
def env(run: Runner, tmp_path: Path) -> dict[str, str]:
    """A machine with a last-level cache and a node for each CPU."""
    return {**run.env, "AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path, node_of_cpu=True))}


def explained(run: Runner, env: dict[str, str]) -> tuple[str, Any]:
    words = [run.launcher, "explain", "last"]
    text = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
    document = subprocess.run([*words, "--json"], env=env, capture_output=True, check=True).stdout
    return text, json.loads(document)


@needs_two_cpus
def test_without_evidence_no_mask_changes_and_it_is_said_why(
    run: Runner, spinner: Path, blind: Path, env: dict[str, str]
) -> None:
    words = ("--quiet", "--policy", blind, "--period", PERIOD, "--", spinner, "2", "300")
    with run.lasting(*words, env=env) as process:
        assert run.eventually(lambda: (found := run.last()) and found.phase == "left alone")
        end = time.monotonic() + 1
        while time.monotonic() < end:  # nor for the length of a sample
            assert set(masks_of(process.pid)) == {allowed()}
        text, document = explained(run, env)
        why = "no counter of the policy's rules can be measured here (no_such_event)"
        assert why in text
        assert document["undecided"].startswith(why)
        assert document["decision"] is None
    assert run.eventually(lambda: (found := run.last()) and found.ended)
    with BehaviourDB.open(run.db, read_only=True) as database:
        assert database.programs() == ()  # nothing is known of it now
        assert database.runs()[0].bound == 0
    assert not run.db.with_name("decisions").exists()


@needs_no_pmu
@pytest.mark.parametrize("name", ["opteron-6164he", "any-machine"])
def test_the_line_says_that_nothing_can_be_measured_and_what_helps(
    run: Runner, env: dict[str, str], name: str
) -> None:
    done = run("--policy", name, "--", "sh", "-c", "exit 37", env=env)
    assert done.returncode == 37
    (line,) = done.stderr.decode().splitlines()
    assert "no counter of the policy's rules can be measured here: threads stay" in line
    assert "doctor" in line


@needs_two_cpus
@needs_no_pmu
def test_explain_names_all_that_helps_where_nothing_can_be_measured(
    run: Runner, env: dict[str, str], spinner: Path
) -> None:
    words = ("--quiet", "--policy", "any-machine", "--period", PERIOD, "--", spinner, "2", "300")
    with run.lasting(*words, env=env):
        assert run.eventually(lambda: (found := run.last()) and found.phase == "left alone")
        text, _ = explained(run, env)
    for helps in ("doctor", "--hint HINT", "--fallback HINT"):
        assert helps in text


@needs_two_cpus
@pytest.mark.parametrize("given", ["option", "environment"])
def test_the_fallback_places_and_is_no_answer_of_the_policy(
    run: Runner, spinner: Path, blind: Path, env: dict[str, str], given: str
) -> None:
    words = ["--policy", blind, "--threads", "2"]
    if given == "option":
        words += ["--fallback", "spread"]
    else:
        env = {**env, "AUTOFINITY_FALLBACK": "Spread"}
    with run.lasting("--quiet", *words, "--", spinner, "2", "300", env=env) as process:
        assert run.eventually(lambda: in_caches_of_their_own(process.pid))
        assert run.eventually(run.placed)
        text, _ = explained(run, env)
        assert "placed by the fallback, spread (SLP)" in text
        assert "by the default" not in text
    assert run.eventually(lambda: (found := run.last()) and found.ended)
    with BehaviourDB.open(run.db, read_only=True) as database:
        assert database.programs() == ()
    assert b"before start" not in run(*words, "--", spinner, "2", "0", env=env).stderr


@needs_two_cpus
def test_a_fallback_that_has_too_few_cpus_is_said_to_have_placed_nothing(
    run: Runner, spinner: Path, blind: Path, env: dict[str, str]
) -> None:
    words = ("--policy", blind, "--fallback", "slp", "--", spinner, "4", "300")
    with run.lasting(*words, env=env, preexec_fn=run.on_two_cpus):
        assert run.eventually(run.last)
        assert run.eventually(lambda: "nothing was placed: " in explained(run, env)[0])
        text, _ = explained(run, env)
    assert "nothing was placed: cannot place 4 threads on 2 available CPUs" in text
    assert "left as it is" not in text
    assert text.count("placed by the fallback") == text.count("to be placed by the fallback") == 1


@needs_two_cpus
def test_a_running_program_is_placed_by_the_fallback_too(
    run: Runner, spinner: Path, blind: Path, env: dict[str, str]
) -> None:
    with preferred(), subprocess.Popen([spinner, "2", "300"]) as app:
        words = [run.launcher, "attach", "--policy", blind, "--fallback", "SLP", str(app.pid)]
        try:
            with subprocess.Popen(words, env=env, stderr=subprocess.PIPE) as watcher:
                assert watcher.stderr is not None
                said = ""
                while line := watcher.stderr.readline().decode():
                    said += line
                    if "placed by the fallback, spread (SLP)" in line:
                        break
                assert run.eventually(lambda: in_caches_of_their_own(app.pid))
                watcher.terminate()
        finally:
            app.kill()
    assert f"using the policy {blind}, named by --policy" in said
    assert "placed by the fallback, spread (SLP)" in said


def test_one_cache_leaves_nothing_to_choose_and_it_is_said_once(
    run: Runner, tmp_path: Path, policy: Path
) -> None:
    one = fake_sysfs(tmp_path, cores_of_llc=1 << 12)
    done = run("--policy", policy, "--", "true", env={**run.env, "AUTOFINITY_SYSFS": str(one)})
    assert done.stderr.count(b"one LLC domain is allowed, so there is nothing to choose") == 1
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("ranks", ["1", "2"])
def test_undecided_threads_of_a_rank_are_said_to_stay_within_its_cpus(
    run: Runner, env: dict[str, str], blind: Path, ranks: str
) -> None:
    rank = {"OMPI_COMM_WORLD_LOCAL_SIZE": ranks, "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
    said = run("--policy", blind, "--", "true", env={**env, **rank}).stderr
    assert b"threads stay where the system puts them" in said
    assert (b"within the CPUs of their rank" in said) == (ranks == "2")


@needs_two_cpus
def test_several_caches_leave_something(run: Runner, env: dict[str, str], policy: Path) -> None:
    assert b"nothing to choose" not in run("--policy", policy, "--", "true", env=env).stderr


ASKED = ", ".join(named_policy("opteron-6164he").counters)


@needs_two_cpus
@needs_no_pmu
@pytest.mark.parametrize(
    ("words", "decision"),
    [
        ((), f"no counter of the policy's rules can be measured here ({ASKED}"),
        (("--fallback", "slP"), "placed by the fallback, few-sockets-shared-caches (slP)"),
    ],
)
def test_a_dry_run_says_who_chose_the_policy_and_that_it_cannot_be_asked(
    run: Runner, env: dict[str, str], words: tuple[str, ...], decision: str
) -> None:
    done = run("--dry-run", "--policy", "opteron-6164he", *words, "--", "true", env=env)
    lines = done.stdout.decode().splitlines()
    assert "chosen    named by --policy" in lines
    (line,) = (line for line in lines if line.startswith("decision"))
    assert decision in line


def test_doctor_says_which_policy_is_asked_and_why(run: Runner, blind: Path) -> None:
    def told(**more: str) -> dict[str, str]:
        words = [run.launcher, "doctor", "--json"]
        done = subprocess.run(words, env={**run.env, **more}, capture_output=True, check=True)
        found = json.loads(done.stdout)["capabilities"]
        return {each["name"]: f"{each['detail']}; {each['remedy']}" for each in found}

    assert f"{blind}, named by AUTOFINITY_POLICY" in told(AUTOFINITY_POLICY=str(blind))["policy"]
    asked = told(AUTOFINITY_POLICY=str(blind))["policy's needs"]
    assert "no_such_event" in asked and "--fallback HINT" in asked
    by_name = told(AUTOFINITY_POLICY="any-machine")["policy"]
    assert "any-machine.json, named by AUTOFINITY_POLICY" in by_name
    assert "is called opteron-6164he" in told(AUTOFINITY_POLICY="default")["policy"]
    own = Path(run.env["XDG_CONFIG_HOME"]) / "autofinity" / "policy.json"
    own.parent.mkdir(parents=True)
    own.write_bytes(blind.read_bytes())
    assert f"{own}, the user's own" in told()["policy"]


@pytest.mark.parametrize("word", ["pack", "slq"])
def test_what_is_no_hint_is_refused_as_a_fallback(run: Runner, word: str) -> None:
    done = run("--fallback", word, "--", "true")
    assert (done.returncode, done.stdout) == (2, b"")
    assert f"wrong value for --fallback '{word}'".encode() in done.stderr
    done = run("--", "true", env={**run.env, "AUTOFINITY_FALLBACK": word})
    assert done.returncode == 0  # of a setting for all programs none dies
    assert f"AUTOFINITY_FALLBACK is ignored: got '{word}'".encode() in done.stderr


@pytest.mark.parametrize("other", [("--hint", str(Hint.parse("sLP"))), ("--mechanism", "spcd")])
def test_a_fallback_beside_what_needs_none_is_refused(run: Runner, other: tuple[str, str]) -> None:
    done = run("--fallback", "sLP", *other, "--", "true")
    assert done.returncode == 2
    assert b"--fallback" in done.stderr
