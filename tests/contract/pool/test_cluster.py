"""Runs on the workers of a real Dask scheduler, each worker a process."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from dask_here import ENOUGH_S, Cluster, Plain, cluster, eventually
from told import Told

from autofinity.capture.suite_capture import capture_suite
from autofinity.model.errors import ClusterError, SimulationError, TraceError, UsageError
from autofinity.pool import cluster as cluster_module
from autofinity.pool import place as places
from autofinity.pool.cluster import ClusterPool, connected
from autofinity.resources import shipped
from autofinity.trace.manifest import Suite, load_suite
from autofinity.workflow.profile import gather
from autofinity.workflow.wanted import Wanted, observations_folder


def pool_on(place: str) -> AbstractContextManager[ClusterPool]:
    return places.pool_on(place, None, Path(), print)


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("four"), 4) as started:
        yield started


@pytest.fixture(scope="module")
def suite() -> Suite:
    """Two programs; inputs of size `large` are captured sampled, and are short here."""
    suite = load_suite(shipped("training", "suite.toml"))
    stencil = suite.programs["stencil"]
    inputs = {**stencil.inputs, "large": "96 6"}
    return replace(suite, programs={**suite.programs, "stencil": replace(stencil, inputs=inputs)})


@pytest.fixture(scope="module")
def traces(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    capture_suite(suite, ["keysearch"], 2, "tiny", folder)
    capture_suite(suite, ["stencil"], 4, "large", folder, sample="auto")
    return folder


@pytest.fixture
def wanted(suite: Suite, traces: Path, tmp_path: Path) -> Wanted:
    (tmp_path / "traces").symlink_to(traces)
    programs = ("keysearch",)
    return Wanted("xeon-e5-2650", suite, programs, ("tiny",), (2,), jobs=None, work=tmp_path)


def elsewhere(wanted: Wanted, place: str, name: str) -> Wanted:
    """The same on a cluster, kept in a folder of its own."""
    work = wanted.work / name
    work.mkdir()
    (work / "traces").symlink_to(wanted.work / "traces")
    return replace(wanted, on=place, work=work)


def test_four_workers_give_what_this_machine_gives_to_the_bit(
    wanted: Wanted, four: Cluster
) -> None:
    wanted = replace(wanted, affinities="all", baselines=True, period_us=50)
    here, told = gather(wanted), Told()
    there = gather(elsewhere(wanted, four.place, "there"), told)
    assert there.digest() == here.digest()
    assert there.to_arrow().equals(here.to_arrow())
    assert [title for title, _ in told.work] == ["capture 2t", "estimate", "profile"]
    assert len(told.done) == sum(total for _, total in told.work)


def test_windows_of_a_sampled_trace_are_tasks_and_add_up_to_the_same(
    wanted: Wanted, four: Cluster
) -> None:
    wanted = replace(wanted, programs=("stencil",), sizes=("large",), threads=(4,))
    here = gather(wanted)
    there = gather(elsewhere(wanted, four.place, "there"))
    assert there.digest() == here.digest()
    assert len(here) > 1


def test_a_worker_that_dies_costs_no_run(wanted: Wanted, four: Cluster) -> None:
    wanted = replace(wanted, affinities="all", page_seeds=3)
    here = gather(wanted)
    victim = four.workers[-1]

    class Killing(Told):
        def step(self, label: str = "") -> None:
            super().step(label)
            if self.work[-1][0] == "profile" and victim.poll() is None:
                victim.kill()
                victim.wait()

    told = Killing()
    there = gather(elsewhere(wanted, four.place, "there"), told)
    assert victim.poll() is not None
    four.add(1)
    assert not [notice for notice in told.notices if "failed" in notice]
    assert there.digest() == here.digest()


def test_runs_that_were_recorded_are_not_made_again(wanted: Wanted, four: Cluster) -> None:
    first = gather(wanted)
    files = {p: p.stat().st_mtime_ns for p in observations_folder(wanted).glob("*.parquet")}
    told = Told()
    again = gather(replace(wanted, on=four.place, affinities="all"), told)
    assert told.done.count("found") >= len(files)
    assert {p: p.stat().st_mtime_ns for p in files} == files
    assert set(first.program.text()) == set(again.program.text())


def test_a_task_that_worker_after_worker_dies_of_is_named_and_others_are_made(
    tmp_path: Path,
) -> None:
    once = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    with cluster(tmp_path / "cluster", 3, env=once) as three, pool_on(three.place) as pool:
        assert eventually(lambda: pool.slots() == 6)
        deadly = pool.submit("a", Plain("dies"))
        with pytest.raises(SimulationError, match="dies: 2 workers died while they had this run"):
            deadly.result(ENOUGH_S)
        assert pool.submit("a", Plain("works")).result(ENOUGH_S).result == "a works []"


def test_a_task_fails_with_its_own_error(four: Cluster) -> None:
    with pool_on(four.place) as pool, pytest.raises(SimulationError, match="deadlock"):
        pool.submit("a", Plain("fails")).result(ENOUGH_S)


def test_nothing_stays_on_the_scheduler(four: Cluster) -> None:
    with pool_on(four.place) as pool:
        begun = [pool.submit("a", Plain("lasts")) for _ in range(12)]
        wait(begun, ENOUGH_S, return_when="FIRST_COMPLETED")
    assert all(future.done() for future in begun)
    assert eventually(lambda: four.scheduler_state() == (0, 0))


def test_a_trace_is_sent_once_to_a_worker_that_does_not_see_it(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed: list[Path] = []
    original = cluster_module.pack
    monkeypatch.setattr(cluster_module, "pack", lambda path: packed.append(path) or original(path))
    (trace,) = traces.glob("keysearch-tiny-*")
    shutil.copytree(trace, tmp_path / "here" / "seen")
    monkeypatch.chdir(tmp_path / "here")  # workers are in another folder
    with cluster(tmp_path / "cluster", 2) as two, pool_on(two.place) as pool:
        assert eventually(lambda: pool.slots() == 4)
        begun = [pool.submit("a", Plain("lasts", ("seen",))) for _ in range(6)]
        answers = {future.result(ENOUGH_S).result for future in begun}
        kept = two.kept_traces()
        assert len(kept) == len(packed) == 2
        assert answers == {f"a lasts {[str(path)]}" for path in kept}
        assert {f.name for f in kept[0].iterdir()} == {f.name for f in trace.iterdir()}
    assert two.kept_traces() == []


def test_a_trace_that_workers_see_is_not_sent(traces: Path, four: Cluster) -> None:
    (trace,) = traces.glob("keysearch-tiny-*")
    with pool_on(four.place) as pool:
        answer = pool.submit("a", Plain("works", (str(trace),))).result(ENOUGH_S)
    assert answer.result == f"a works {[str(trace)]}"


def test_a_damaged_trace_fails_the_run_and_no_other(tmp_path: Path, four: Cluster) -> None:
    with pool_on(four.place) as pool:
        future = pool.submit("a", Plain("works", (str(tmp_path / "none"),)))
        with pytest.raises(TraceError, match="holds no complete trace"):
            future.result(ENOUGH_S)
        assert pool.submit("a", Plain("works")).result(ENOUGH_S).result == "a works []"


def test_a_worker_of_another_version_is_refused_with_both_versions(tmp_path: Path) -> None:
    import autofinity

    package = Path(autofinity.__file__).parent
    other = tmp_path / "other" / "autofinity"
    other.mkdir(parents=True)
    for part in package.iterdir():
        if part.name != "__init__.py":
            (other / part.name).symlink_to(part)
    source = (package / "__init__.py").read_text()
    (other / "__init__.py").write_text(source.replace(autofinity.__version__, "0.0.7"))
    with cluster(tmp_path / "cluster", 0) as started, pool_on(started.place) as pool:
        support = Path(__file__).parents[2] / "support"
        started.add(1, {"PYTHONPATH": f"{other.parent}:{support}"})
        said = f"autofinity 0.0.7 there and {autofinity.__version__} here"
        with pytest.raises(ClusterError, match=said):
            pool.submit("a", Plain("works")).result(ENOUGH_S)


def test_without_workers_it_gives_up_and_names_what_waits(tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", 0) as empty:
        address = empty.place.replace("dask:", "tcp:")
        with ClusterPool(connected(address), empty.place, address, patience_s=1) as pool:
            assert pool.slots() == 1
            with pytest.raises(ClusterError, match=r"no worker for 1 s; .*: works\. Start workers"):
                pool.submit("a", Plain("works")).result(ENOUGH_S)


def test_a_scheduler_that_ends_is_an_error_and_no_hang(tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", 1) as one, pool_on(one.place) as pool:
        begun = pool.submit("a", Plain("lasts"))
        one.processes[0].kill()
        with pytest.raises(ClusterError, match="scheduler"):
            begun.result(ENOUGH_S)


def test_where_nothing_listens_dask_is_not_asked_which_would_try_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_module, "Client", lambda *_, **__: pytest.fail("Dask is asked"))
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        pool_on("dask://127.0.0.1:9")


@pytest.mark.parametrize(
    "place",
    [
        *(
            "dask://",
            "dask://host",
            "here",
            "http://a:1",
            "dask://a:b",
            "dask://:8786",
            "dask://a:1/b",
        ),
        *("dask://a:0", "tls://a:99999", "dask://a:-1", "dask://[::1:8786", "dask://me@a:8786"),
    ],
)
def test_a_place_that_is_none_is_named_with_what_was_expected(place: str) -> None:
    with pytest.raises(UsageError, match="expected dask://HOST:PORT"):
        pool_on(place)


def test_a_number_of_runs_at_a_time_is_not_for_workers_that_decide_it() -> None:
    with pytest.raises(UsageError, match="--jobs 3: the workers of dask://a:1 make as many runs"):
        places.pool_on("dask://a:1", 3, Path(), print)


def test_without_the_extra_packages_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "autofinity.pool.cluster")
    with pytest.raises(UsageError, match=r"distributed.*install autofinity\[cluster\]"):
        pool_on("dask://127.0.0.1:9")


def test_this_machine_itself_is_not_profiled_elsewhere(wanted: Wanted) -> None:
    with pytest.raises(UsageError, match="on this machine itself"):
        gather(replace(wanted, machine="host", on="dask://127.0.0.1:9"))
