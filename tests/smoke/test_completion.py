"""Completion through the installed command, in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pexpect
import pytest

from autofinity.cli.completion import scripts
from autofinity.runtime.launcher import find_launcher

PATIENCE_S = 60
HELP = "Report what a run can measure and bind here"


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """The scripts where an installation has them."""
    for place, script in scripts().items():
        path = tmp_path / "share" / place
        path.parent.mkdir(parents=True)
        path.write_text(script)
    return tmp_path / "share"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The launcher is what PATH gives."""
    return {
        "PATH": f"{find_launcher().parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found


def test_bash_completes_commands_options_and_files(
    tmp_path: Path, share: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "an-application").write_text("#!/bin/sh\necho it ran\n")
    (tmp_path / "an-application").chmod(0o755)
    words = ["--norc", "--noprofile", "-i"]
    with pexpect.spawn(
        shell("bash"), words, env=environment, cwd=tmp_path, encoding="utf-8", timeout=PATIENCE_S
    ) as bash:
        bash.sendline(f". {share}/bash-completion/completions/autofinity; echo loa''ded")
        bash.expect_exact("loaded")
        bash.send("autofinity doc\t--he\t\n")
        bash.expect_exact(HELP)
        bash.expect_exact("--json")
        bash.send("autofinity run --qui\t-- ./an-app\t\n")
        bash.expect_exact("it ran")
        bash.sendline("exit")
        bash.expect(pexpect.EOF)


def test_zsh_completes_commands_and_options(
    tmp_path: Path, share: Path, environment: dict[str, str]
) -> None:
    with pexpect.spawn(
        shell("zsh"), ["-f", "-i"], env=environment, cwd=tmp_path, encoding="utf-8",
        timeout=PATIENCE_S,
    ) as zsh:  # fmt: skip
        zsh.sendline(
            f"fpath=({share}/zsh/site-functions $fpath); autoload -U compinit;"
            f" compinit -u -d {tmp_path}/dump; echo loa''ded"
        )
        zsh.expect_exact("loaded")
        # It completes nothing while there is more to read.
        zsh.send("autofinity doc\t")
        zsh.expect_exact("tor")
        zsh.send("--he\t")
        zsh.expect_exact("lp")
        zsh.send("\n")
        zsh.expect_exact(HELP)
        zsh.expect_exact("--json")
        zsh.sendline("exit")
        zsh.expect(pexpect.EOF)


def test_fish_completes_commands_and_options(share: Path, environment: dict[str, str]) -> None:
    fish = shell("fish")
    script = share / "fish/vendor_completions.d/autofinity.fish"
    for typed, found in (("autofinity doc", "doctor"), ("autofinity doctor --he", "--help")):
        done = subprocess.run(
            [fish, "--no-config", "-c", f"source {script}; complete -C '{typed}'"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [found]
