"""`on=` of the Python API: runs on workers of a Dask scheduler, with the results of runs here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from dask_here import Cluster, cluster

import autofinity as af
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite
from autofinity.workflow import pools

XEON = "xeon-e5-2650"
SMALL: Any = {"threads": 2, "programs": ["prodcons", "stencil"]}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    programs = load_suite(shipped("training", "suite.toml")).programs
    for name in SMALL["programs"]:
        if why := skip_reason(programs[name], Compilers.find(os.environ)):
            pytest.skip(f"{name} cannot be captured: {why}")
    with cluster(tmp_path_factory.mktemp("two"), 2) as started:
        yield started


def test_runs_elsewhere_show_what_runs_here_show(two: Cluster, tmp_path: Path) -> None:
    there = af.profile(XEON, **SMALL, sizes="tiny", work=tmp_path / "there", on=two.place)
    here_work = tmp_path / "here"
    here_work.mkdir()
    (here_work / "traces").symlink_to(tmp_path / "there" / "traces")
    here = af.profile(XEON, **SMALL, sizes="tiny", work=here_work)
    pd.testing.assert_frame_equal(there, here)
    assert two.scheduler_state() == (0, 0), "the scheduler keeps nothing"


def test_training_judging_and_comparing_make_their_runs_there(
    two: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "LocalPool", None)  # a run here would fail
    given: Any = {**SMALL, "work": tmp_path, "on": two.place}
    policy = af.train(XEON, sizes="tiny", **given)
    assert policy.made_of["machine"] == XEON
    manifest = shipped("training", "suite.toml")
    judged = af.evaluate(
        XEON, sizes="tiny", suite=manifest, policy=af.load_policy("any-machine"), **given
    )
    assert set(judged.cases.program) <= set(SMALL["programs"])
    beside = af.compare(XEON, size="tiny", mechanisms="packed", **given)
    assert set(beside.summary.index) == {"os", "packed", "oracle"}
    with pytest.raises(TypeError):
        af.compare(XEON, size="tiny", mechanisms="packed", **{**given, "on": ""})


@pytest.mark.parametrize("work", [af.profile, af.train, af.evaluate, af.compare])
@pytest.mark.parametrize(
    ("machine", "given", "said"),
    [
        (XEON, {"on": "somewhere"}, "expected dask://HOST:PORT or tls://HOST:PORT"),
        (XEON, {"on": "dask://127.0.0.1:9"}, "no Dask scheduler answers"),
        (XEON, {"on": "dask://127.0.0.1:9", "jobs": 2}, "as many runs at a time"),
        (XEON, {"on": 8786}, "expected dask://HOST:PORT"),
        ("host", {"on": "dask://127.0.0.1:9"}, "this machine itself"),
    ],
)
def test_a_place_that_cannot_be_is_said_before_any_work(
    work: Any, machine: str, given: Any, said: str, tmp_path: Path
) -> None:
    if work is af.compare and machine == "host":
        pytest.skip("compare refuses the present machine whatever `on` is")
    others: Any = {"suite": shipped("training", "suite.toml")} if work is af.evaluate else {}
    with pytest.raises(af.AutofinityError, match=said):
        work(machine, threads=2, programs=["prodcons", "scan"], work=tmp_path, **others, **given)
    assert not (tmp_path / "traces").exists()
