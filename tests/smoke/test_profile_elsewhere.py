"""Campaigns by `profile --on …`, wherever runs are sent: Dask workers, jobs of Slurm."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_there import CAMPAIGN, Elsewhere, digest_here, interrupted, profile, recorded
from dask_here import cluster, eventually
from slurm_here import described_jobs, no_jobs_left, slurm_here

SEEDS = (*CAMPAIGN, "--seeds", "40")


@pytest.fixture(scope="module", params=["dask", "slurm"])
def elsewhere(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Elsewhere]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "dask":
        with cluster(folder, 2) as two:
            both = (signal.SIGINT, signal.SIGKILL)
            yield Elsewhere(two.place, lambda: two.scheduler_state() == (0, 0), {}, both)
    else:
        with slurm_here(folder) as env:
            user = {**env, **described_jobs(folder / "dask")}
            yield Elsewhere("slurm", lambda: no_jobs_left(env), user)


def test_an_interrupted_campaign_leaves_nothing_there_goes_on_and_gives_what_this_machine_gives(
    elsewhere: Elsewhere, tmp_path: Path
) -> None:
    work, temporary = tmp_path / "there", tmp_path / "temporary"
    temporary.mkdir()
    words, env = (*SEEDS, "--on", elsewhere.on), {**elsewhere.env, "TMPDIR": str(temporary)}
    for number in elsewhere.interruptions:
        interrupted(words, work, env, number)
        assert eventually(elsewhere.at_rest)
    kept = recorded(work)
    done = profile(*words, "--work", str(work), "--json", env=env)
    assert recorded(work) > kept
    assert list(temporary.iterdir()) == []
    assert eventually(elsewhere.at_rest)
    assert {path.name for path in work.iterdir()} == {"traces", "observations"}
    assert json.loads(done.stdout)["digest"] == digest_here(SEEDS, work, tmp_path / "here")


@pytest.mark.parametrize(
    ("on", "env", "said", "code"),
    [
        ("dask://127.0.0.1:9", {}, "no Dask scheduler answers at tcp://127.0.0.1:9", 1),
        ("slurm", {"PATH": "/nowhere"}, "there is no sbatch in PATH", 2),
    ],
)
def test_workers_that_are_not_there_are_one_line_before_any_work(
    tmp_path: Path, on: str, env: dict[str, str], said: str, code: int
) -> None:
    work = tmp_path / "work"
    done = profile(*CAMPAIGN, "--work", str(work), "--on", on, env=env, code=code)
    (line,) = done.stderr.splitlines()
    assert line.startswith("autofinity: ")
    assert said in line
    assert not (work / "traces").exists()
