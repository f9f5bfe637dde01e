"""`autofinity profile --on slurm`, on a real Slurm of one node."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from dask_here import ENOUGH_S, eventually
from slurm_here import said, slurm_here

COMMAND = (sys.executable, "-m", "autofinity", "profile")
SMALL = (
    *("--machine", "xeon-e5-2650", "-t", "4", "--size", "tiny", "-p", "stencil"),
    *("--affinities", "all", "--no-baselines", "--period-us", "20"),
)
JOBS = """
jobqueue:
  slurm:
    cores: 1
    memory: 500MB
    walltime: "00:10:00"
    queue: {queue}
    interface: lo
    log-directory: {logs}
    job-directives-skip: ["--mem"]
    job-script-prologue: [{prologue}]
distributed:
  deploy:
    lost-worker-timeout: 1s
"""


def described(folder: Path, queue: str = "all", prologue: str = "") -> dict[str, str]:
    """The environment of a user who has described the jobs."""
    folder.mkdir(exist_ok=True)
    (folder / "jobqueue.yaml").write_text(JOBS.format(queue=queue, logs=folder, prologue=prologue))
    return {"DASK_CONFIG": str(folder)}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm_here(tmp_path_factory.mktemp("slurm")) as env:
        yield env


def autofinity(
    *words: str, env: Mapping[str, str], code: int = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, *words],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_jobs_of_slurm_give_what_this_machine_gives_and_end(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    env = {**slurm, **described(tmp_path / "dask")}
    there, here = tmp_path / "there", tmp_path / "here"
    words = (*SMALL, "--work", str(there), "--on", "slurm", "--jobs", "2", "--json")
    done = autofinity(*words, env=env)
    assert "2 Slurm jobs are submitted" in done.stderr
    assert eventually(lambda: said(["squeue", "-h"], slurm).strip() == "")
    here.mkdir()
    (here / "traces").symlink_to(there / "traces")
    alone = autofinity(*SMALL, "--work", str(here), "--json", env={})
    assert json.loads(done.stdout)["digest"] == json.loads(alone.stdout)["digest"]
    assert {path.name for path in there.iterdir()} == {"traces", "observations"}


def test_a_job_that_ends_while_runs_are_left_is_submitted_again(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    env = {**slurm, **described(tmp_path / "dask")}
    there, here = tmp_path / "there", tmp_path / "here"
    words = (*SMALL, "--seeds", "30", "--work", str(there), "--on", "slurm", "--json")
    command = [*COMMAND, *words]
    with subprocess.Popen(command, env={**os.environ, **env}, stdout=subprocess.PIPE) as process:
        try:
            assert eventually(lambda: any((there / "observations").rglob("*.parquet")))
            (job,) = said(["squeue", "-h", "-o", "%i"], slurm).split()
            said(["scancel", job], slurm)
            out, _ = process.communicate(timeout=ENOUGH_S)
        finally:
            process.kill()
    here.mkdir()
    (here / "traces").symlink_to(there / "traces")
    alone = autofinity(*SMALL, "--seeds", "30", "--work", str(here), "--json", env={})
    assert json.loads(out)["digest"] == json.loads(alone.stdout)["digest"]


def test_jobs_that_end_before_a_worker_comes_are_an_error(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    env = {**slurm, **described(tmp_path / "dask", prologue="exit 3")}
    words = (*SMALL, "--work", str(tmp_path / "work"), "--on", "slurm")
    done = autofinity(*words, env=env, code=1)
    assert "(FAILED) and no worker has come from them" in done.stderr


def test_an_interruption_cancels_the_jobs(slurm: dict[str, str], tmp_path: Path) -> None:
    env = {**os.environ, **slurm, **described(tmp_path / "dask")}
    words = (*SMALL, "--seeds", "60", "--work", str(tmp_path), "--on", "slurm")
    with subprocess.Popen([*COMMAND, *words], env=env, stderr=subprocess.PIPE) as process:
        try:
            assert eventually(lambda: any((tmp_path / "observations").rglob("*.parquet")))
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=ENOUGH_S)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGINT, told
    assert eventually(lambda: said(["squeue", "-h"], slurm).strip() == "")


def test_jobs_that_slurm_refuses_are_named_in_its_words(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    env = {**slurm, **described(tmp_path / "dask", queue="none-such")}
    words = (*SMALL, "--work", str(tmp_path / "work"), "--on", "slurm")
    done = autofinity(*words, env=env, code=2)
    assert "sbatch refuses the jobs" in done.stderr
    assert "invalid partition specified: none-such" in done.stderr


def test_jobs_that_are_not_described_are_asked_for(slurm: dict[str, str], tmp_path: Path) -> None:
    env = {**slurm, "DASK_CONFIG": str(tmp_path / "none")}
    words = (*SMALL, "--work", str(tmp_path / "work"), "--on", "slurm")
    done = autofinity(*words, env=env, code=2)
    assert "cores and memory of a job are not known" in done.stderr
    assert "~/.config/dask/jobqueue.yaml" in done.stderr


def test_without_slurm_it_says_so(tmp_path: Path) -> None:
    env = {"PATH": str(Path(sys.executable).parent)}
    words = (*SMALL, "--work", str(tmp_path / "work"), "--on", "slurm")
    assert "there is no sbatch in PATH" in autofinity(*words, env=env, code=2).stderr
