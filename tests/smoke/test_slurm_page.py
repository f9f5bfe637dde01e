"""Lines of docs/howto/slurm.md in a real Slurm of one node: as printed, but for numbers of CPUs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from compiled import compiled
from printed import environment
from slurm_here import slurm_here

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/howto/slurm.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
APP = """#!/bin/sh
echo "rank $SLURM_PROCID: $(grep Cpus_allowed_list /proc/self/status | cut -f 2) $OMP_NUM_THREADS"
exec ./spinner "${OMP_NUM_THREADS:-1}" 2
"""
MODULE = """
module() { test "$*" = 'load autofinity' && PATH=%s:$PATH; }
export -f module
"""
"""A site's command, which does what the module file of the page does."""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm_here(tmp_path_factory.mktemp("slurm")) as env:
        yield env


class User:
    """Somebody with a program and a shell, in a folder."""

    def __init__(self, folder: Path, slurm: dict[str, str]) -> None:
        self.folder = folder
        self.env = environment(folder) | {"SLURM_CONF": slurm["SLURM_CONF"]}
        compiled([ROOT / "tests/smoke/spinner.c"], folder / "spinner")
        app = folder / "app"
        app.write_text(APP)
        app.chmod(0o755)

    def shell(self, commands: str, env: dict[str, str] | None = None) -> str:
        """Output of the commands."""
        words = ["bash", "-euo", "pipefail", "-c", commands]
        done = subprocess.run(
            words, cwd=self.folder, env=env or self.env, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def notes(self) -> list[str]:
        """Notes of the runs on record."""
        return [run["notes"] for run in json.loads(self.shell("autofinity status --json"))["runs"]]


@pytest.fixture
def user(tmp_path: Path, slurm: dict[str, str]) -> User:
    return User(tmp_path, slurm)


def line_with(*words: str) -> str:
    """The line of the page that has all of these words."""
    lines = [line for block in BLOCKS for line in block.splitlines()]
    (found,) = (line for line in lines if all(word in line for word in words))
    return found


def on_two_cpus(text: str) -> str:
    """The text with the numbers of a node of two CPUs."""
    for name, here in (("ntasks-per-node=4", 2), ("cpus-per-task=12", 1), ("cpus-per-task=48", 2)):
        text = text.replace(name, f"{name.partition('=')[0]}={here}")
    return text.replace("OMP_NUM_THREADS=24", "OMP_NUM_THREADS=2")


def test_ranks_that_are_bound_to_a_core_each_have_no_choice_and_a_line_says_so(user: User) -> None:
    said = user.shell(on_two_cpus(line_with("srun --ntasks-per-node", "--cpu-bind=cores")))
    assert sorted(line.rstrip() for line in said.splitlines()) == ["rank 0: 0", "rank 1: 1"]
    notes = user.notes()
    assert len(notes) == 2
    for note in notes:
        assert "one core, so nothing is placed; `srun --cpu-bind=none` leaves the places to" in note


def test_ranks_that_may_use_the_node_keep_to_their_shares(user: User) -> None:
    line = on_two_cpus(line_with("srun --ntasks-per-node", "--cpu-bind=cores"))
    said = user.shell(line.replace("--cpu-bind=cores", "--cpu-bind=none"))
    assert sorted(line.rstrip() for line in said.splitlines()) == ["rank 0: 0-1", "rank 1: 0-1"]
    shares = {found[0] for note in user.notes() for found in re.finditer(r"its share, .*", note)}
    assert shares == {"its share, CPUs 0", "its share, CPUs 1"}


def test_a_job_of_one_task_has_the_node_and_its_promised_threads(user: User) -> None:
    (script,) = (block for block in BLOCKS if "#SBATCH" in block)
    (user.folder / "job").write_text(on_two_cpus(script))
    module = MODULE % f"{sys.prefix}/bin"
    # The command comes from the module alone.
    env = user.env | {"PATH": os.environ.get("PATH", os.defpath)}
    user.shell(module + "sbatch --wait --output=out job", env)
    out = (user.folder / "out").read_text()
    assert "rank 0: 0-1 2" in out.splitlines(), out
    (note,) = user.notes()
    assert "policy: " in note
