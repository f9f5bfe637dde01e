"""Where `profile`, `train` and `evaluate` work when nobody names a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autofinity.model.errors import SuiteError, UsageError
from autofinity.workflow.wanted import (
    DEFAULT_PERIOD_US,
    HOST_PERIOD_US,
    observations_folder,
    wanted_on,
    work_folder,
)


def test_each_manifest_has_its_own_folder_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folders = {work_folder(None, tmp_path / name / "suite.toml") for name in ("a", "b")}
    assert len(folders) == 2
    assert all(folder.is_relative_to(tmp_path / "cache") for folder in folders)


def test_a_manifest_has_one_folder_however_its_path_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    spellings = ("suite.toml", "../mine/suite.toml", tmp_path / "mine" / "suite.toml")
    (folder,) = {work_folder(None, Path(suite)) for suite in spellings}
    assert folder.name.startswith("mine-")


def test_what_is_refused_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SuiteError):
        wanted_on("opteron-6164he", suite=tmp_path / "none.toml")
    with pytest.raises(UsageError):
        wanted_on("opteron-6164he", jobs=0)
    with pytest.raises(UsageError, match="--affinities 'nosuch'"):
        replace(wanted_on("opteron-6164he"), affinities="nosuch")
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    wanted = wanted_on("opteron-6164he", programs=("lu", "cg", "lu"), work=tmp_path)
    assert wanted.programs == ("lu", "cg")
    assert [spec.name for spec in wanted.suite.pick(("lu", "cg", "lu"))] == ["lu", "cg"]


def test_a_size_or_thread_count_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    wanted = wanted_on("opteron-6164he", sizes=("tiny", "tiny"), threads=(8, 4, 8), work=tmp_path)
    assert (wanted.sizes, wanted.threads) == (("tiny",), (8, 4))
    assert replace(wanted, threads=(4, 8, 4)).threads == (4, 8)


def test_pages_of_another_size_are_for_simulated_machines(tmp_path: Path) -> None:
    here = wanted_on("host", work=tmp_path)
    with pytest.raises(UsageError, match="--page-size 2M: programs that run on this machine have"):
        replace(here, page_size="2M")
    assert replace(here, page_size="2M", latencies="assumed").page_size == "2M"


def test_a_user_without_a_home_is_asked_for_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(UsageError, match="name a work folder with --work"):
        work_folder(None, Path("suite.toml"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot make the work folder .*Not a directory"):
        wanted_on("opteron-6164he", work=tmp_path / "file" / "below")


def test_observations_made_differently_are_kept_apart(tmp_path: Path) -> None:
    def folder(period_us: float | None) -> Path:
        wanted = wanted_on("opteron-6164he", work=tmp_path)
        return observations_folder(replace(wanted, period_us=period_us))

    assert folder(None) == folder(DEFAULT_PERIOD_US)
    assert len({folder(None), folder(20), folder(20.5)}) == 3


def test_observations_of_this_machine_are_kept_apart_by_its_own_period(tmp_path: Path) -> None:
    def folder(period_us: float | None) -> Path:
        wanted = wanted_on("host", work=tmp_path)
        return observations_folder(replace(wanted, period_us=period_us))

    assert folder(None) == folder(HOST_PERIOD_US) != folder(DEFAULT_PERIOD_US)
