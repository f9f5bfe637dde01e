"""Claims of `--on dask://…` alone, as people call it: encryption, and other commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_there import CAMPAIGN
from commands import autofinity
from dask_here import Cluster, cluster
from distributed import Security


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("two"), 2) as started:
        yield started


def test_connections_are_encrypted_with_the_certificates_that_dask_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Security.temporary().get_tls_config_for_role("client")
    for part in ("ca_file", "cert", "key"):
        (tmp_path / part).write_text(made[part])
    files = {"CA_FILE": "ca_file"}
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        files |= {f"{role}__CERT": "cert", f"{role}__KEY": "key"}
    env = {f"DASK_DISTRIBUTED__COMM__TLS__{k}": str(tmp_path / v) for k, v in files.items()}
    small = (*CAMPAIGN, "--seeds", "1", "--work", str(tmp_path / "work"))
    with cluster(tmp_path / "cluster", 1, "tls", env) as one:
        plain = ("profile", *small, "--on", one.place.replace("tls:", "dask:"))
        assert "no Dask scheduler answers" in autofinity(*plain, code=1).stderr
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        assert "observations" in autofinity("profile", *small, "--on", one.place).stdout


def test_policies_comparisons_and_verdicts_are_those_of_this_machine(
    two: Cluster, tmp_path: Path
) -> None:
    small = ("--machine", "xeon-e5-2650", "--size", "tiny", "-p", "keysearch", "-p", "prodcons")
    profiled = (*small, "--affinities", "hints", "--period-us", "20", "-t", "4")
    for number, words in enumerate(
        (
            ("train", *profiled, "-o", str(tmp_path / "policy.json"), "--json"),
            ("evaluate", *profiled, "--json"),
            ("compare", *small, "-t", "4", "--repeats", "2", "--mechanism", "kmaf16", "--json"),
        )
    ):
        here, there = tmp_path / f"here{number}", tmp_path / f"there{number}"
        for work in (here, there):
            work.mkdir()
            (work / "traces").symlink_to(tmp_path / "traces")
        (tmp_path / "traces").mkdir(exist_ok=True)
        alone = autofinity(*words, "--work", str(here))
        together = autofinity(*words, "--work", str(there), "--on", two.place)
        assert together.stdout == alone.stdout != ""
