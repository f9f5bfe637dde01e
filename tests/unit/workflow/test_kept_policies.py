"""Policies that an evaluation keeps: never another one's, never a reason to fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import Hint
from autofinity.model.policy import RulePolicy
from autofinity.workflow import kept_policies
from autofinity.workflow.kept_policies import FOLDER, MOST_KEYS, KeptPolicies

PACKED, SPREAD = (RulePolicy((), {}, (), Hint.from_letters(letters)) for letters in ("slp", "SLP"))


def kept(work: Path, observations: str = "a", **settings: int) -> KeptPolicies:
    return KeptPolicies(work, LearningSettings(**settings), observations)  # type: ignore[arg-type]


def unwanted() -> RulePolicy:
    raise AssertionError("it is kept, and need not be learned")


def test_a_policy_is_learned_once(tmp_path: Path) -> None:
    assert kept(tmp_path).get("cg", lambda: PACKED) == PACKED
    assert kept(tmp_path).get("cg", unwanted) == PACKED


def test_a_policy_of_other_observations_settings_code_or_name_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(tmp_path).get("cg", lambda: PACKED)
    assert kept(tmp_path).get("fft", lambda: SPREAD) == SPREAD
    assert kept(tmp_path, "b").get("cg", lambda: SPREAD) == SPREAD
    assert kept(tmp_path, most_rules=3).get("cg", lambda: SPREAD) == SPREAD
    monkeypatch.setattr(kept_policies, "digest_of_code", lambda *parts: b"edited")
    assert kept(tmp_path).get("cg", lambda: SPREAD) == SPREAD


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    kept(tmp_path).get("cg", lambda: PACKED)
    (file,) = tmp_path.rglob("*.json")
    file.write_text("{")
    assert kept(tmp_path).get("cg", lambda: PACKED) == PACKED
    assert kept(tmp_path).get("cg", unwanted) == PACKED


def test_a_folder_that_cannot_be_made_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file in its place")
    assert kept(tmp_path).get("cg", lambda: PACKED) == PACKED


def test_the_latest_evaluations_are_kept(tmp_path: Path) -> None:
    for number in range(MOST_KEYS + 3):
        kept(tmp_path, f"{number}").get("cg", lambda: PACKED)
        for folder in (tmp_path / FOLDER).iterdir():  # clocks of file systems are coarse
            os.utime(folder, ns=tuple(time - 10**9 for time in _times_ns(folder)))
    assert len(list((tmp_path / FOLDER).iterdir())) == MOST_KEYS
    assert kept(tmp_path, f"{MOST_KEYS + 2}").get("cg", unwanted) == PACKED
    assert kept(tmp_path, "3").get("cg", unwanted) == PACKED
    assert kept(tmp_path, "0").get("cg", lambda: SPREAD) == SPREAD


def test_what_a_killed_process_has_begun_does_not_keep_a_folder(tmp_path: Path) -> None:
    for number in range(MOST_KEYS + 3):
        kept(tmp_path, f"{number}").get("cg", lambda: PACKED)
        for folder in (tmp_path / FOLDER).iterdir():
            os.utime(folder, ns=tuple(time - 10**9 for time in _times_ns(folder)))
            (folder / f".{'0' * 32}.json.7-0a1b2c.tmp").write_text("{")
    assert len(list((tmp_path / FOLDER).iterdir())) == MOST_KEYS


def test_nothing_that_is_not_its_own_is_deleted(tmp_path: Path) -> None:
    foreign = [tmp_path / FOLDER / name for name in ("mine", "0" * 32)]
    for folder in foreign:
        folder.mkdir(parents=True)
        (folder / "data").write_text("a user's")
        os.utime(folder, (1, 1))
    for number in range(MOST_KEYS + 3):
        kept(tmp_path, f"{number}").get("cg", lambda: PACKED)
    assert [(folder / "data").read_text() for folder in foreign] == ["a user's"] * 2


def test_a_pipe_in_place_of_a_policy_does_not_hold_up(tmp_path: Path) -> None:
    kept(tmp_path).get("cg", lambda: PACKED)
    (file,) = tmp_path.rglob("*.json")
    file.unlink()
    os.mkfifo(file)
    assert kept(tmp_path).get("cg", lambda: PACKED) == PACKED
    assert kept(tmp_path).get("cg", unwanted) == PACKED


def _times_ns(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_atime_ns, status.st_mtime_ns
