"""`scripts/demo` prints the commands that it runs."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/demo"
PROGRAM = """#!/bin/sh
echo "${XDG_STATE_HOME-}|${OMP_NUM_THREADS-}|autofinity $*" >>"${0%/*}/called"
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || touch "$2"
    shift
done
"""


def test_the_printed_commands_are_the_commands_that_are_run(tmp_path: Path) -> None:
    script = tmp_path / "scripts/demo"
    script.parent.mkdir()
    shutil.copy(SCRIPT, script)
    program = tmp_path / "venv/bin/autofinity"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o700)
    env = {"PATH": "/usr/bin:/bin", "CC": "true", "OMP_NUM_THREADS": "", "XDG_STATE_HOME": ""}
    done = subprocess.run([script, "venv"], env=env, capture_output=True, text=True, check=True)
    assert as_typed(done.stdout) == program.with_name("called").read_text().splitlines()
    assert done.stderr == ""


def as_typed(output: str) -> list[str]:
    """The words and settings that a program gets from the commands of an output, as typed."""
    typed, state = [], ""
    for line in output.splitlines():
        match shlex.split(line) if line.startswith("$ ") else []:
            case ["$", "export", setting]:
                state = setting.removeprefix("XDG_STATE_HOME=")
            case ["$", "env", setting, "autofinity", *words]:
                threads = setting.removeprefix("OMP_NUM_THREADS=")
                typed.append(f"{state}|{threads}|autofinity {' '.join(words)}")
            case ["$", "autofinity", *words]:
                typed.append(f"{state}||autofinity {' '.join(words)}")
    return typed
