"""Words of refusals: they say what was expected, or which option helps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.model.errors import StoreError, UsageError
from autofinity.new_folder import why_not_made
from autofinity.store.behaviour_db import BehaviourDB


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("capture -p prodcons --size tiny -o", "choose another with -o"),
        ("profile -m opteron-6164he -p prodcons --size tiny --work", "name another with --work"),
    ],
)
@pytest.mark.parametrize("place", ["/proc/nowhere", "/etc/passwd/below"])
def test_a_folder_that_cannot_be_made_is_refused_with_its_option(
    words: str, option: str, place: str
) -> None:
    done = CliRunner().invoke(cli, [*words.split(), place])
    assert isinstance(done.exception, UsageError)
    assert place in str(done.exception)
    assert str(done.exception).endswith(option)


def test_speeds_that_cannot_be_kept_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/proc/nowhere")
    done = CliRunner().invoke(cli, ["doctor", "--measure"])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith("cannot make the configuration folder /proc/nowhere/")
    assert str(done.exception).endswith("name another with XDG_CONFIG_HOME")
    assert done.stderr == "", "no step of a measurement is reported"


def test_a_file_system_that_is_read_only_is_said_to_be() -> None:
    read_only = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    read_only = [each for each in read_only if os.path.isdir(each) and is_read_only(each)]
    if not read_only:
        pytest.skip("no file system here is mounted read-only")
    assert why_not_made(Path(read_only[0]) / "below") == "Read-only file system"


def is_read_only(folder: str) -> bool:
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def test_a_look_at_a_folder_leaves_nothing(tmp_path: Path) -> None:
    assert why_not_made(tmp_path / "a" / "b") == why_not_made(tmp_path) == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["attach", "restore", "advise --pid"])
@pytest.mark.parametrize("given", ["abc", "0", "1.5"])
def test_what_is_no_pid_is_refused_as_such(words: str, given: str) -> None:
    done = CliRunner().invoke(cli, [*words.split(), given])
    assert done.exit_code == 2
    assert f"'{given}': expected a pid" in done.output


def test_the_last_run_is_as_absent_from_an_empty_database_as_from_none(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    codes = []
    for _ in range(2):
        done = CliRunner().invoke(cli, ["explain", "last", "--db", str(path)])
        assert isinstance(done.exception, StoreError)
        codes.append(done.exception.exit_code)
        with BehaviourDB.open(path):
            pass
    assert codes == [1, 1]


@pytest.mark.parametrize(
    ("threads", "said"), [(1, "1 affinity of 1 thread on"), (2, " affinities of 2 threads on")]
)
def test_one_affinity_is_no_plural(threads: int, said: str) -> None:
    done = CliRunner().invoke(cli, ["affinities", "-m", "opteron-6164he", "-t", str(threads)])
    assert said in done.stdout.splitlines()[0]


@pytest.mark.parametrize(
    "words",
    [
        "figure nosuch",
        "evaluate -m nosuch",
        "evaluate --policy nosuch",
        "rules nosuch.parquet",
    ],
)
def test_a_wrong_name_is_refused_before_slow_imports(words: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "autofinity", *words.split()],
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "autofinity.cli.main" in imported
    assert imported.isdisjoint({"sklearn", "pandas", "pyarrow"})
