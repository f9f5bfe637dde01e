"""A cpuset that shrinks and grows pins nobody; a process is the same seen from another time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from compiled import compiled, launcher_of
from live_masks import masks_of
from live_run import Runner, preferred
from permitted import needs_two_cpus
from small_cpuset import SmallCpuset, small_cpuset

from autofinity.linux.bind import StartMask, allowed_now, as_cut
from autofinity.linux.thread_masks import ThreadMasks
from autofinity.linux.thread_roll import ThreadRoll
from autofinity.linux.time_namespace import shift_of
from autofinity.model.affinity import PACKED
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.policy.files import save

SMOKE = Path(__file__).parents[1] / "smoke"


def cpus(*numbers: int) -> frozenset[OsIndex]:
    return frozenset(map(OsIndex, numbers))


@pytest.fixture(scope="module")
def spinner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled([SMOKE / "spinner.c"], tmp_path_factory.mktemp("spinner") / "spinner")


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    return Runner.within(tmp_path, launcher_of(tmp_path))


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy whose one answer is: packed."""
    path = tmp_path / "policy.json"
    save(RulePolicy(("page_faults",), {"page_faults": (1.0,)}, (), PACKED), path)
    return path


@pytest.fixture
def two_cpus() -> tuple[int, int]:
    first, second = sorted(os.sched_getaffinity(0))[:2]
    return first, second


def restored(run: Runner, pid: int) -> dict[str, int]:
    done = subprocess.run(
        [run.launcher, "restore", "--json", str(pid)], env=run.env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (told,) = json.loads(done.stdout)
    return dict(told)


def inside(cpuset: SmallCpuset) -> dict[str, object]:
    return {"preexec_fn": cpuset.enter}


@needs_two_cpus
def test_restore_in_a_cpuset_that_has_shrunk_puts_each_bound_thread_back_once(
    run: Runner, spinner: Path, two_cpus: tuple[int, int]
) -> None:
    with small_cpuset(two_cpus) as cpuset:
        options = ("--hint", "SLP", "--bind", "core", "--", spinner, "2", "300")
        with run.lasting(*options, **inside(cpuset)) as app:
            assert run.eventually(lambda: run.placed() and len(set(masks_of(app.pid))) == 3)
            cpuset.allow(two_cpus[1:])
            assert set(masks_of(app.pid)) == {cpus(two_cpus[1])}
            told = restored(run, app.pid)
            assert (told["done"], told["pinned"], told["refused"]) == (2, 0, {})
            cpuset.allow(two_cpus)
            assert set(masks_of(app.pid)) == {cpus(*two_cpus)}


@needs_two_cpus
def test_what_others_pin_in_a_cpuset_that_has_shrunk_and_grown_is_left_alone(
    run: Runner, spinner: Path, two_cpus: tuple[int, int]
) -> None:
    with small_cpuset(two_cpus) as cpuset:
        options = ("--hint", "SLP", "--bind", "core", "--", spinner, "2", "300")
        with run.lasting(*options, **inside(cpuset)) as app:
            assert run.eventually(lambda: run.placed() and len(set(masks_of(app.pid))) == 3)
            main, first, _ = sorted(map(int, os.listdir(f"/proc/{app.pid}/task")))
            elsewhere = set(two_cpus) - os.sched_getaffinity(first)
            os.sched_setaffinity(first, elsewhere)
            cpuset.allow(two_cpus[:1])
            cpuset.allow(two_cpus)
            told = restored(run, app.pid)
            assert (told["done"], told["pinned"]) == (1, 1)
            assert os.sched_getaffinity(first) == elsewhere
            assert os.sched_getaffinity(main) == set(two_cpus)


@needs_two_cpus
def test_a_run_that_began_with_one_cpu_looks_again_when_there_are_more(
    run: Runner, spinner: Path, policy: Path, two_cpus: tuple[int, int]
) -> None:
    words = ("--policy", policy, "--bind", "core", "--period", "0.2s", "--every", "0.2")
    with (
        small_cpuset(two_cpus[:1]) as cpuset,
        run.lasting(*words, "--", spinner, "2", "300", **inside(cpuset)) as app,
    ):
        assert run.eventually(lambda: (last := run.last()) and last.phase == "left alone")
        cpuset.allow(two_cpus)
        assert run.eventually(run.placed), run.last()
        workers = masks_of(app.pid)[1:]
        assert sorted(workers, key=sorted) == [cpus(cpu) for cpu in two_cpus]
        told = restored(run, app.pid)
        assert (told["done"], told["pinned"]) == (2, 0)
        assert set(masks_of(app.pid)) == {cpus(*two_cpus)}


def test_a_mask_is_cut_as_the_kernel_cuts_it() -> None:
    assert as_cut(cpus(0, 1), cpus(1, 2)) == cpus(1)
    assert as_cut(cpus(0), cpus(1, 2)) == cpus(1, 2)
    assert as_cut(cpus(0), None) == cpus(0)


def test_a_start_mask_follows_the_cgroup_only_where_nothing_else_narrowed_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    online = cpus(*os.sched_getaffinity(0))
    monkeypatch.setattr("autofinity.linux.bind.cpuset_of", lambda pid: online)
    first = cpus(min(online))
    assert allowed_now(1, StartMask(first, by_cpuset=True)) == online
    assert allowed_now(1, StartMask(first)) == first
    assert StartMask.of(1, online).by_cpuset
    assert StartMask.of(1, first).by_cpuset == (first == online)


@needs_two_cpus
def test_a_bound_thread_that_the_kernel_cut_is_bound_again(
    spinner: Path, two_cpus: tuple[int, int]
) -> None:
    """As in a cpuset that has shrunk to the second CPU: the mask is not what was given."""
    first, second = two_cpus
    with subprocess.Popen(["sleep", "300"]) as app:
        os.sched_setaffinity(app.pid, two_cpus)
        masks = ThreadMasks(cpus(*two_cpus), frozenset(), lambda changes: None)
        roll = ThreadRoll(app.pid)
        roll.look(0)
        assert masks.bind(roll, [cpus(first)], cpus(*two_cpus)) == (1, {})
        os.sched_setaffinity(app.pid, {second})  # the kernel, or somebody else
        assert masks.bind(roll, [cpus(first)], cpus(*two_cpus))[0] == 0
        assert masks.bind(roll, [cpus(*two_cpus)], cpus(second)) == (1, {})
        assert os.sched_getaffinity(app.pid) == set(two_cpus)
        app.kill()


@needs_two_cpus
def test_a_run_in_another_time_namespace_is_found_and_restored(run: Runner, spinner: Path) -> None:
    unshare = ["unshare", "--time", "--boottime", "100000", "--monotonic", "5000", "--fork"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"]).returncode:
        pytest.skip("no time namespace can be made here")
    words = run.command("--hint", "SLP", "--bind", "core", "--", spinner, "2", "300")
    words = [*unshare, "--kill-child", *words]
    with preferred(), subprocess.Popen(words, env=run.env) as outer:
        try:
            assert run.eventually(run.placed)
            found = run.last()
            assert found is not None
            pid = found.pid
            assert run.eventually(lambda: len(set(masks_of(pid))) == 3)
            monitors = run.monitors_of(pid)
            told = restored(run, pid)
            assert (told["done"], told["pinned"]) == (2, 0)
            assert len(set(masks_of(pid))) == 1
            assert len(monitors) == 1 and run.monitors_of(pid) == []
        finally:
            outer.kill()


@pytest.mark.parametrize(
    ("text", "ticks"),
    [
        ("monotonic 0 0\nboottime 100 500000000\n", 10_050),
        ("monotonic   5  0\nboottime  -3  10000000\n", -299),
        ("boottime -1 999999999", -1),
        ("monotonic 5 0", 0),
        ("", 0),
    ],
)
def test_the_shift_of_a_time_namespace_is_read(text: str, ticks: int) -> None:
    assert shift_of(text, 100) == ticks
