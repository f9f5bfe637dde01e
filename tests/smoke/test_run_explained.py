"""Plan and result of a run: printed before, and read back from the kernel after."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, fake_sysfs, masks_of
from live_run import become_subreaper, preferred
from permitted import needs_two_cpus

from autofinity.model.affinity import HINTS, PACKED
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import save
from autofinity.store.behaviour_db import BehaviourDB

type Runner = Any  # of conftest.py


def ask(run: Runner, *words: str) -> Any:
    done = subprocess.run([run.launcher, *words, "--json"], env=run.env, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_dry_run_starts_nothing_and_writes_nothing(
    run: Runner, policy: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "proof"
    done = run("--dry-run", "--policy", policy, "--threads", "1", "--", "touch", proof)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not proof.exists()
    assert not run.db.exists()
    lines = done.stdout.decode().splitlines()
    assert lines[-1] == "nothing was started"
    shown = [hint.shown for hint in HINTS]
    assert [name for line in lines for name in shown if line.startswith(f"{name} ")] == shown
    assert f"policy    {policy}" in lines
    assert f"CPUs      {format_cpu_list(allowed())} allowed" in done.stdout.decode()


def test_a_dry_run_is_also_one_json_document(run: Runner, policy: Path, tmp_path: Path) -> None:
    env = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path))}
    words = ("--dry-run", "--policy", policy, "--threads", "1")
    text = run(*words, "--", "true", env=env).stdout.decode()
    done = run(*words, "--json", "--", "true", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    seen = json.loads(done.stdout)
    assert seen["policy"] == str(policy)
    assert seen["threads"] == seen["threads_promised"] == 1
    assert f"decision  {seen['decision']}\n" in text
    assert [each["hint"] for each in seen["hints"]] == [str(hint) for hint in HINTS]
    for each in seen["hints"]:
        (mask,) = each["cpus_of_thread"]
        assert f"thread 0 on CPUs {mask}\n" in text


def test_a_dry_run_says_that_pages_stay(run: Runner, policy: Path, tmp_path: Path) -> None:
    several = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path, node_of_cpu=True))}
    words = ("--dry-run", "--policy", policy, "--threads", "2")
    stay = "pages stay where they are (--keep-pages)"
    text = run(*words, "--keep-pages", "--", "true", env=several).stdout.decode()
    assert f"note      {stay}\n" in text
    told = run(*words, "--keep-pages", "--json", "--", "true", env=several).stdout
    assert stay in json.loads(told)["notes"]
    assert stay not in run(*words, "--", "true", env=several).stdout.decode()
    unbound = run(*words, "--keep-pages", "--bind", "none", "--", "true", env=several)
    assert stay not in unbound.stdout.decode()


def test_json_is_for_a_dry_run_only(run: Runner) -> None:
    done = run("--json", "--", "true")
    assert done.returncode == 2
    assert b"expected --dry-run --json" in done.stderr


@needs_two_cpus
def test_a_dry_run_tells_the_cpus_of_each_thread(run: Runner, policy: Path, tmp_path: Path) -> None:
    env = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path)), "OMP_PROC_BIND": "close"}
    done = run("--dry-run", "--policy", policy, "--threads", "2", "--", "true", env=env)
    first, second = sorted(allowed())[:2]
    first_hint, second_hint = HINTS[:2]
    after = done.stdout.decode().split(f"\n{first_hint.shown} ")[1]
    spread = after.split(f"\n{second_hint.shown} ")[0]
    assert f"thread 0 on CPUs {first}\n" in spread
    assert f"thread 1 on CPUs {second}" in spread
    assert b"pins      OMP_PROC_BIND=close" in done.stdout


@pytest.mark.parametrize("words", [("--threads=2",), ("-t", "2"), ("-t2",)], ids=" ".join)
def test_threads_are_counted_in_each_spelling(run: Runner, words: tuple[str, ...]) -> None:
    done = run("--dry-run", *words, "--", "true", "-t", "7")
    assert done.returncode == 0
    assert b"threads   2 (promised)" in done.stdout.splitlines()


def test_continuous_mode_is_asked_for_in_seconds(run: Runner, policy: Path) -> None:
    done = run("--dry-run", "--policy", policy, "--every", "0.5", "--", "true")
    assert b"checked every 0.5 s, decided again when the program has changed" in done.stdout
    for wrong in ("0", "soon", "-1"):
        done = run(f"--every={wrong}", "--", "true")
        assert done.returncode == 2
        assert b"wrong value for --every" in done.stderr


def test_a_dry_run_of_a_policy_without_counters_says_that_no_sample_is_taken(
    run: Runner, tmp_path: Path
) -> None:
    answer = tmp_path / "answer.json"
    save(RulePolicy((), {}, (), PACKED), answer)
    done = run("--dry-run", "--policy", answer, "--", "true")
    said = f"decision  {PACKED.shown}, the one answer of the policy, without a sample"
    assert said in done.stdout.decode()


def test_a_dry_run_of_nothing_says_so(run: Runner, tmp_path: Path) -> None:
    done = run("--dry-run", "--", "/nowhere/at/all")
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"dry run: nothing is known of /nowhere/at/all: it is not found" in done.stderr
    plain = tmp_path / "plain"
    plain.touch()
    done = run("--dry-run", "--", plain)
    assert f"dry run: nothing is known of {plain}: it cannot be executed" in done.stderr.decode()
    done = run("--dry-run", "--policy", "nope", "--", "true")
    assert done.returncode == 1
    assert b"the policy nope is not used" in done.stderr
    assert b"dry run: nothing is known of true, for the reason above" in done.stderr


def test_a_dry_run_says_what_a_list_of_thread_counts_promises(run: Runner) -> None:
    done = run("--dry-run", "--", "true", env=run.env | {"OMP_NUM_THREADS": "2,4"})
    (line,) = [each for each in done.stdout.decode().splitlines() if each.startswith("threads")]
    assert line.startswith("threads   8 (promised: OMP_NUM_THREADS=2,4 is for teams within teams;")
    done = run("--dry-run", "-t", "2", "--", "true", env=run.env | {"OMP_NUM_THREADS": "2,4"})
    assert "threads   2 (promised)" in done.stdout.decode().splitlines()


@pytest.mark.parametrize(
    ("text", "threads"),
    [("3", "3"), ("3,1", "3"), ("3,auto", "3"), ("auto,1", None), ("x,3", None)],
)
def test_julias_second_pool_is_not_for_computing(
    text: str, threads: str | None, run: Runner
) -> None:
    done = run("--explain", "--", "true", env=run.env | {"JULIA_NUM_THREADS": text})
    promised = f"threads {threads}; " if threads else "threads not given, so watched; "
    assert promised in done.stderr.decode()


@needs_two_cpus
def test_an_explained_run_tells_rule_masks_and_who_else_pins(
    run: Runner, spinner: Path, policy: Path
) -> None:
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    env = run.env | {"OMP_PLACES": "cores"}
    with run.lasting(*options, "--", spinner, "2", "300", env=env) as process:
        assert run.eventually(run.placed)
        told = ask(run, "explain", "last")
        threads = [thread for thread in told["threads"] if thread["author"] == "autofinity"]
        assert [thread["cpus"] for thread in threads] == [
            format_cpu_list(mask) for mask in masks_of(process.pid)[1:]
        ]
        assert told["alive"] and told["run"]["pid"] == process.pid
        assert told["decision"]["hint"] == "slp"
        assert told["decision"]["missing"] == ["data_cache_accesses"]
        assert told["who_else_pins"][0].startswith("OMP_PLACES=cores")
        assert ask(run, "status")["running"] == [told["run"]["id"]]
        words = [run.launcher, "explain", str(told["run"]["id"])]
        text = subprocess.run(words, env=run.env, capture_output=True, text=True).stdout
        assert "by the default" in text and "(by autofinity)" in text
    assert run.eventually(lambda: not ask(run, "status")["running"])
    looks = ask(run, "explain", "last")["looks"]
    assert {look["place"] for look in looks} == {"", "{2}"}, "before and after it was placed"
    assert all(look["end_ns"] > look["start_ns"] for look in looks)
    busy = {thread for look in looks for thread, each in look["counts"].items() if each}
    assert {"1", "2"} <= busy
    assert ask(run, "explain", "last")["threads"] == []


@needs_two_cpus
def test_no_process_of_ours_is_explained_as_the_programs(
    run: Runner, spinner: Path, policy: Path
) -> None:
    """Where the program is a subreaper, the monitor is below it."""
    options = ("--policy", policy, "--threads", "2", "--", spinner, "2", "300")
    with run.lasting(*options, preexec_fn=become_subreaper) as process:
        assert run.eventually(run.placed)
        threads = ask(run, "explain", "last")["threads"]
        assert [thread["pid"] for thread in threads] == [process.pid] * 3


@needs_two_cpus
def test_a_run_by_a_policy_without_counters_is_recorded_to_its_end_and_its_hint_was_not_known(
    run: Runner, spinner: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "one-answer.json"
    save(RulePolicy((), {}, (), PACKED), policy)
    with run.lasting("--policy", policy, "--bind", "core", "--", spinner, "2", "300"):
        assert run.eventually(run.placed)
    assert run.eventually(lambda: (found := run.last()) and found.ended)
    told = ask(run, "explain", "last")
    assert (told["decision"]["hint"], told["hint_was_known"]) == ("slp", False)


@needs_two_cpus
def test_an_explained_run_tells_what_the_program_pinned_itself(
    run: Runner, spinner: Path, policy: Path
) -> None:
    options = ("--policy", policy, "--bind", "core", "--period", "0.3s")
    with run.lasting(*options, "--", spinner, "2", "300", "pin"):
        assert run.eventually(run.placed)
        authors = [thread["author"] for thread in ask(run, "explain", "last")["threads"]]
        assert authors == ["nobody", "others", "others"]


def test_a_run_that_is_not_on_record_is_one_line(run: Runner) -> None:
    for words, reason in (
        (("explain", "7"), "there is no behaviour database"),
        (("explain", "nonsense"), "there is no policy"),
    ):
        done = subprocess.run(
            [run.launcher, *words], env=run.env, capture_output=True, text=True, check=False
        )
        assert done.returncode != 0
        assert reason in done.stderr
        assert done.stderr.count("\n") == 1


def test_the_last_run_before_any_is_one_line(run: Runner) -> None:
    run.db.parent.mkdir(parents=True, exist_ok=True)
    with BehaviourDB.open(run.db):
        pass
    words = [run.launcher, "explain", "last"]
    done = subprocess.run(words, env=run.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"autofinity: no run is on record in {run.db} yet; `autofinity run -- APP` makes one\n"
    )


def test_a_last_run_whose_rows_were_lost_is_named_as_such(run: Runner) -> None:
    run.db.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with BehaviourDB.open(run.db):
        pass
    log = run.db.with_name("monitor.log")
    log.write_text("first\npid 7: 3 rows are lost: database or disk is full\n")
    log.chmod(0o600)
    words = [run.launcher, "explain", "last"]
    done = subprocess.run(words, env=run.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"autofinity: no run is on record in {run.db}, for its rows could not be stored: "
        "pid 7: 3 rows are lost: database or disk is full\n"
    )


def test_explain_last_says_why_nothing_was_decided(run: Runner, spinner: Path) -> None:
    run("--quiet", "--", spinner, "1", "0.6")
    assert run.eventually(lambda: (found := run.last()) and found.ended)
    done = subprocess.run([run.launcher, "explain", "last"], env=run.env, capture_output=True)
    assert done.returncode == 0, done.stderr
    said = b"nothing was decided: fewer than two threads computed at once"
    assert done.stdout.count(said) == 1
    assert ask(run, "explain", "last")["undecided"].startswith("fewer than two threads")


def explained(run: Runner, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [run.launcher, "explain", *words], env=run.env, capture_output=True, text=True
    )


def test_a_last_run_too_short_to_be_sampled_is_named_and_no_earlier_one_shown_in_its_place(
    run: Runner, policy: Path, tmp_path: Path
) -> None:
    short = tmp_path / "短 run"
    short.symlink_to("/bin/true")
    name = str(short.resolve())
    run.db.parent.mkdir(parents=True, mode=0o700, exist_ok=True)

    def told_of_short(end: str) -> bool:
        done = explained(run, "last")
        said = f"autofinity: the last run, {name} (pid "
        return (done.returncode, done.stdout) == (1, "") and (
            done.stderr.startswith(said) and done.stderr.endswith(f"; {end}\n")
        )

    with preferred():  # a program that starves is not short
        run("--quiet", "--policy", policy, "--", short)
    if not run.db.exists():
        with BehaviourDB.open(run.db):  # as made by an earlier run
            pass
    assert run.eventually(lambda: told_of_short("no earlier run is on record"))

    run("--quiet", "--policy", policy, "--", "sleep", "2")
    assert run.eventually(lambda: (found := run.last()) and found.ended)
    earlier = run.last()
    assert explained(run, "last").stdout.startswith(f"run {earlier.id}: ")

    with preferred():
        run("--quiet", "--policy", policy, "--", short)
    offer = f"`autofinity explain {earlier.id}` explains the last one on record, {earlier.path}"
    assert run.eventually(lambda: told_of_short(offer))
    assert explained(run, str(earlier.id)).stdout.startswith(f"run {earlier.id}: ")


def test_what_another_user_may_have_written_names_no_short_run(run: Runner) -> None:
    with BehaviourDB.open(run.db):
        pass
    file = run.db.with_name(run.db.name + ".short-run")
    file.write_text(f"autofinity-short-run 1\n{time.time_ns()} 7\n/bin/evil\n")
    file.chmod(0o600)
    assert "/bin/evil" in explained(run, "last").stderr
    file.chmod(0o666)
    assert "/bin/evil" not in explained(run, "last").stderr
    ahead = f"autofinity-short-run 1\n{time.time_ns() + 10**12} 7\n/bin/evil\n"
    for damaged in ("", "autofinity-short-run 1\nx y\n/bin/evil\n", "\0" * 100, ahead):
        file.write_text(damaged)
        file.chmod(0o600)
        assert "no run is on record" in explained(run, "last").stderr
