"""Claims of `autofinity profile --on slurm` alone, on a real Slurm of one node."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_there import CAMPAIGN, COMMAND, digest_here, profile, recorded
from dask_here import ENOUGH_S, eventually
from slurm_here import described_jobs, no_jobs_left, said, slurm_here


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm_here(tmp_path_factory.mktemp("slurm")) as env:
        yield env


def test_jobs_that_end_while_runs_are_left_are_submitted_again(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    env = {**os.environ, **slurm, **described_jobs(tmp_path / "dask")}
    there, seeds = tmp_path / "there", (*CAMPAIGN, "--seeds", "30")
    command = [*COMMAND, *seeds, "--work", str(there), "--on", "slurm", "--jobs", "2", "--json"]
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert eventually(lambda: recorded(there) > 0)
            jobs = said(["squeue", "-h", "-o", "%i"], slurm).split()
            said(["scancel", *jobs], slurm)
            out, told = process.communicate(timeout=ENOUGH_S)
        finally:
            process.kill()
    assert len(jobs) == 2
    assert b"2 Slurm jobs are submitted" in told
    assert json.loads(out)["digest"] == digest_here(seeds, there, tmp_path / "here")
    assert eventually(lambda: no_jobs_left(slurm))


def test_jobs_that_end_before_a_worker_comes_are_an_error(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    env = {**slurm, **described_jobs(tmp_path / "dask", prologue="exit 3")}
    words = (*CAMPAIGN, "--work", str(tmp_path / "work"), "--on", "slurm")
    done = profile(*words, env=env, code=1)
    assert "(FAILED) and no worker has come from them" in done.stderr


def test_jobs_that_slurm_refuses_are_named_in_its_words(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    env = {**slurm, **described_jobs(tmp_path / "dask", queue="none-such")}
    words = (*CAMPAIGN, "--work", str(tmp_path / "work"), "--on", "slurm")
    done = profile(*words, env=env, code=2)
    assert "sbatch refuses the jobs" in done.stderr
    assert "invalid partition specified: none-such" in done.stderr


def test_jobs_that_are_not_described_are_asked_for(slurm: dict[str, str], tmp_path: Path) -> None:
    env = {**slurm, "DASK_CONFIG": str(tmp_path / "none")}
    words = (*CAMPAIGN, "--work", str(tmp_path / "work"), "--on", "slurm")
    done = profile(*words, env=env, code=2)
    assert "cores and memory of a job are not known" in done.stderr
    assert "~/.config/dask/jobqueue.yaml" in done.stderr
