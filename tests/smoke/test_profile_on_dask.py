"""`autofinity profile --on dask://…`, as people call and interrupt it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import autofinity
from dask_here import Cluster, cluster, eventually

COMMAND = (sys.executable, "-m", "autofinity", "profile")
CAMPAIGN = (
    *("--machine", "xeon-e5-2650", "-t", "4", "--size", "small", "-p", "stencil"),
    *("--affinities", "all", "--seeds", "8"),
)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("two"), 2) as started:
        yield started


def recorded(work: Path) -> int:
    return len(list((work / "observations").rglob("*.parquet")))


def test_an_interrupted_campaign_leaves_the_scheduler_clean_and_goes_on(
    two: Cluster, tmp_path: Path
) -> None:
    words = (*CAMPAIGN, "--work", str(tmp_path), "--on", two.place)
    kept = 0
    for number in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE) as process:
            try:
                assert eventually(lambda: recorded(tmp_path) >= kept + 3)  # noqa: B023
                process.send_signal(number)
                _, said = process.communicate(timeout=60)
            finally:
                process.kill()
        assert process.returncode == -number
        assert b"Traceback" not in said
        assert eventually(lambda: two.scheduler_state() == (0, 0))
        kept = recorded(tmp_path)
    there = json.loads(autofinity("profile", *words, "--json").stdout)
    assert recorded(tmp_path) > kept
    local = tmp_path / "local"
    local.mkdir()
    (local / "traces").symlink_to(tmp_path / "traces")
    here = json.loads(autofinity("profile", *CAMPAIGN, "--work", str(local), "--json").stdout)
    assert there["digest"] == here["digest"]


def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    said = autofinity(
        *("profile", *CAMPAIGN, "--work", str(tmp_path), "--on", "dask://127.0.0.1:9"), code=1
    )
    (line,) = said.stderr.splitlines()
    assert line.startswith("autofinity: no Dask scheduler answers at tcp://127.0.0.1:9")
    assert not (tmp_path / "traces").exists()
