"""Upgrades by the wheel keep the files of users, and removing the wheel leaves none of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from login_node import LoginNode
from older_databases import OLDER, in_old_columns, older_database, rows_of


def test_an_upgrade_keeps_the_behaviour_database_of_an_earlier_version(
    wheel: Path, login_node: LoginNode, tmp_path: Path
) -> None:
    database = tmp_path / "autofinity/behaviour.db"
    older_database(database, OLDER[0])
    before = rows_of(database)
    anew = ("-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", str(wheel))
    login_node.run("python", *anew)
    user = LoginNode(
        login_node.venv,
        login_node.environment | {"XDG_STATE_HOME": str(tmp_path)},
        login_node.elsewhere,
    )
    user.run("autofinity", "run", "--", "sh", "-c", "sleep 0.5; exit 3", code=3)
    assert "/opt/solver" in user.run("autofinity", "status").stdout
    after = rows_of(database)
    for table in ("behaviour", "observation"):
        assert in_old_columns(after[table], before[table]) == before[table], table


def test_uninstalling_leaves_no_file(wheel: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    pip = (sys.executable, "-m", "pip", "--python", venv / "bin/python")
    before = contents(venv)
    subprocess.run([*pip, "install", "-q", "--no-deps", wheel], check=True)
    installed = contents(venv) - before
    assert venv / "bin/autofinity" in installed
    assert venv / "share/man/man1/autofinity-run.1" in installed
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "PATH": "/usr/bin:/bin"}
    subprocess.run([venv / "bin/autofinity", "run", "--", "sleep", "0.5"], env=state, check=True)
    subprocess.run([*pip, "uninstall", "-q", "-y", "autofinity"], check=True)
    left = contents(venv) - before
    assert {path for path in left if not path.is_dir()} == set()
    # pip keeps empty folders of `share`; none of them is ours by name.
    assert {path for path in left if "autofinity" in path.name} == set()


def contents(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))
