"""`--hint` places a program as it says: no sample is taken and no policy asked."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from live_masks import allowed, fake_sysfs, in_caches_of_their_own, masks_of
from live_run import last_run, preferred
from made_up_machine import machine
from permitted import needs_two_cpus
from topology_sysfs_tree import write_sysfs

from autofinity.model.affinity import HINTS, Hint

type Runner = Any  # of conftest.py


@needs_two_cpus
def test_threads_are_placed_by_the_hint_without_a_sample(
    run: Runner, spinner: Path, policy: Path, tmp_path: Path
) -> None:
    # The policy of the environment says packed, and its sample would take an hour.
    env = run.env | {
        "AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path)),
        "AUTOFINITY_POLICY": str(policy),
    }
    words = ("--hint", "SlP", "--threads", "2", "--period", "3600s", "--", spinner, "2", "300")
    with run.lasting(*words, env=env) as process:
        assert run.eventually(lambda: in_caches_of_their_own(process.pid))
        assert run.eventually(lambda: last_run(run)["hint"] == "SlP")
    told = last_run(run)
    assert told["sample"] == {}
    hint = "many-sockets-shared-caches (SlP)"
    assert f"{hint} was set by --hint: no policy decided" in told["notes"]


@needs_two_cpus
def test_a_running_program_is_placed_by_the_hint_too(
    run: Runner, spinner: Path, tmp_path: Path
) -> None:
    env = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path))}
    with preferred(), subprocess.Popen([spinner, "2", "300"]) as app:
        words = [run.launcher, "attach", "--hint", "SLP", "--period", "3600s", str(app.pid)]
        try:
            with subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL) as watcher:
                assert run.eventually(lambda: in_caches_of_their_own(app.pid))
                watcher.terminate()
        finally:
            app.kill()


@needs_two_cpus
def test_threads_that_take_turns_share_the_cores_of_as_many_as_run_at_a_time(
    run: Runner, turns: Path, tmp_path: Path
) -> None:
    # Four threads, one of which runs at a time, on a machine of two CPUs: a core for each there is
    # not, and is not needed. Two were promised.
    env = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path))}
    words = ("--hint", "slP", "--threads", "2", "--", turns, "4", "1", "300")

    def placed() -> bool:
        found = run.placed()
        return found is not None and found.threads == 4 and found.bound >= 4

    with run.lasting(*words, env=env, preexec_fn=run.on_two_cpus) as process:
        assert run.eventually(placed)
        two = frozenset(sorted(allowed())[:2])
        assert set(masks_of(process.pid)[1:]) == {two}
    told = last_run(run)
    assert told["hint"] == "slP"
    assert not any("left as it is" in line for line in told["notes"])


def test_the_line_that_is_said_names_the_hint_and_the_program_runs(run: Runner) -> None:
    done = run("--hint=sLP", "--", "sh", "-c", "exit 37")
    assert done.returncode == 37
    assert done.stderr.startswith(b"autofinity: hint few-sockets-own-caches (sLP), by --hint")


@pytest.mark.parametrize("hint", HINTS, ids=str)
@pytest.mark.parametrize("by", ["letters", "name"])
def test_a_dry_run_marks_the_hint(run: Runner, hint: Hint, by: str) -> None:
    word = str(hint) if by == "letters" else hint.name.capitalize()
    done = run("--dry-run", "--hint", word, "--threads", "1", "--", "true")
    lines = done.stdout.decode().splitlines()
    assert f"decision  hint {hint.shown}, by --hint, without a sample" in lines
    assert "policy    not asked" in lines
    (marked,) = (line for line in lines if line.endswith("(asked for)"))
    assert marked.startswith(f"{hint.shown} ")


@needs_two_cpus
def test_a_dry_run_says_so_where_the_hint_puts_threads_on_siblings(
    run: Runner, tmp_path: Path
) -> None:
    first, second = sorted(allowed())[:2]
    siblings = machine(cores=1, smt=2, number=lambda core, rank: (first, second)[rank])
    env = run.env | {"AUTOFINITY_SYSFS": str(write_sysfs(tmp_path / "sys", siblings))}
    words = ("--dry-run", "--hint", "slP", "--threads", "2", "--", "true")
    with_siblings = run(*words, env=env).stdout.decode()
    assert (
        "note      few-sockets-shared-caches (slP) puts 2 threads on 1 core, several to a core"
        in with_siblings
    )
    own_cores = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path / "own"))}
    assert "several to a core" not in run(*words, env=own_cores).stdout.decode()


@pytest.mark.parametrize("word", ["slq", "S", "SLPP", "pack", ""])
def test_what_is_no_hint_is_refused_with_all_eight(run: Runner, word: str) -> None:
    done = run("--hint", word, "--", "true")
    assert done.returncode == 2
    assert f"wrong value for --hint '{word}'".encode() in done.stderr
    assert all(hint.shown.encode() in done.stderr for hint in HINTS)
    refused = subprocess.run(
        [run.launcher, "attach", "--hint", word, "1"], env=run.env, capture_output=True
    )
    assert refused.returncode == 2
    assert all(hint.shown.encode() in refused.stderr for hint in HINTS)


@pytest.mark.parametrize(
    "other",
    [
        ("--policy", "x.json"),
        ("--every", "2"),
        ("--mechanism", "spcd"),
        (
            "--bind",
            "none",
        ),
    ],
    ids=lambda words: words[0],
)
def test_a_hint_beside_what_would_decide_is_refused(run: Runner, other: tuple[str, ...]) -> None:
    done = run("--hint", "sLP", *other, "--", "true")
    assert done.returncode == 2
    assert b"--hint decides the placement" in done.stderr


@needs_two_cpus
def test_threads_that_no_placement_has_cpus_for_are_said_to_be_unplaced(
    run: Runner, spinner: Path, tmp_path: Path
) -> None:
    env = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path))}
    with run.lasting(
        "--hint", "slp", "--", spinner, "4", "300", env=env, preexec_fn=run.on_two_cpus
    ):
        assert run.eventually(run.last)
        assert run.eventually(lambda: "left as it is" in last_run(run)["notes"])
    asked = [run.launcher, "explain", "last"]
    said = subprocess.run(asked, env=run.env, capture_output=True, text=True).stdout
    assert "nothing was placed: cannot place 4 threads on 2 available CPUs" in said
    assert said.count("cannot place 4 threads") == 1
    assert "left as it is" not in said and "nothing was decided" not in said
    assert "bound to CPUs" not in said


@needs_two_cpus
def test_a_run_that_has_ended_shows_which_cpus_its_threads_had(
    run: Runner, spinner: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    env = run.env | {"AUTOFINITY_SYSFS": str(fake_sysfs(tmp_path))}
    with run.lasting("--hint", "SLP", "--", spinner, "2", "300", env=env) as process:
        assert run.eventually(lambda: in_caches_of_their_own(process.pid))
        assert run.eventually(run.placed)
    assert run.eventually(lambda: (found := run.last()) and found.ended)
    first, second = sorted(allowed())[:2]
    cpus = f"{first}-{second}" if second == first + 1 else f"{first},{second}"
    asked = [run.launcher, "explain", "last", "--html", page]
    said = subprocess.run(asked, env=run.env, capture_output=True, text=True).stdout
    assert f"the program's threads were bound to CPUs {cpus}" in said
    assert "claims" not in said
    assert "Where the threads were" in page.read_text()
