"""WEKA is an extra: without it JRip is refused, by name of what to install."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.model.errors import LearningError


def test_jrip_without_weka_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    work = tmp_path / "work"
    for words in (
        ("train", "--paper", "--work", str(work), "-o", str(tmp_path / "policy.json")),
        ("evaluate", "--paper"),
        ("rules", str(tmp_path), "--learner", "jrip", "-o", str(tmp_path / "policy.json")),
    ):
        done = CliRunner().invoke(cli, [*words])
        assert isinstance(done.exception, LearningError), words
        assert "pip install 'autofinity[weka]'" in str(done.exception)
    assert not work.exists()
