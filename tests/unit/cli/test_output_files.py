"""Files that cannot be written are refused by every command before its work."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from few_observations import FEW_ON, write_few

from autofinity.cli.main import cli

COMMANDS = [
    *("train", "profile", "record-machine", "rules OBS", "table OBS", "export any-machine"),
    *("compare", "figure 2a", "coverage", "detect TRACE"),
]


def refusal(command: str, output: Path) -> str:
    words = [*command.split(), "-o", str(output)]
    done = CliRunner().invoke(cli, words, terminal_width=1000)
    assert done.exit_code == 2, done.output
    return done.output.splitlines()[-1]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert f"there is no folder {tmp_path}/none" in refusal(command, tmp_path / "none" / "file")
    assert f"'{tmp_path}' is a directory" in refusal(command, tmp_path)
    assert "/proc/file cannot be written" in refusal(command, Path("/proc/file"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    assert "cannot be written: Permission denied" in refusal("train", tmp_path / "file")


def test_json_on_stdout_leaves_the_picture_in_its_file(tmp_path: Path) -> None:
    words = ["coverage", str(write_few(tmp_path / "few.parquet")), "-m", FEW_ON, "--json"]
    done = CliRunner().invoke(cli, [*words, "-o", str(tmp_path / "x.svg")], catch_exceptions=False)
    assert set(json.loads(done.stdout)) == {"counters", "programs", "adding_nothing"}
    assert "<svg" in (tmp_path / "x.svg").read_text()


@pytest.mark.parametrize("name", ["file", "link"])
def test_a_file_that_is_there_is_kept_until_the_result_is_known(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    words = ["train", "-p", "nosuch", "--work", str(tmp_path / "w"), "-o", str(tmp_path / name)]
    done = CliRunner().invoke(cli, words)
    assert "no program 'nosuch'" in str(done.exception)
    assert (tmp_path / "file").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"file", "link"}
