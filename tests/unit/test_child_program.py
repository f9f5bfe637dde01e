"""A program that we start does not outlive us, whenever we are interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import runs

from autofinity.child_program import ChildProgram

# It says who it is, and interrupts who starts it before that can have its name.
STARTING = """
import os, signal, subprocess, sys
from pathlib import Path
from autofinity.child_program import ChildProgram

def interrupt(number, frame):
    raise KeyboardInterrupt

def begin():
    Path(sys.argv[1]).write_text(str(os.getpid()))
    os.kill(os.getppid(), NUMBER)

signal.signal(NUMBER, interrupt)
try:
    quiet = {"stdout": subprocess.DEVNULL, "preexec_fn": begin}
    with ChildProgram(["sleep", "600"], own_session=OWN, **quiet):
        print("the block was entered")
except KeyboardInterrupt:
    assert signal.getsignal(NUMBER) is interrupt
    print("interrupted", flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("own_session", [True, False])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_is_interrupted_while_it_starts_a_program_ends_it(
    tmp_path: Path, number: signal.Signals, own_session: bool
) -> None:
    source = STARTING.replace("NUMBER", str(int(number))).replace("OWN", str(own_session))
    command = [sys.executable, "-c", source, str(tmp_path / "pid")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "interrupted\n")
    assert not runs(int((tmp_path / "pid").read_text()))


def test_who_leaves_the_block_has_awaited_the_children_of_the_program() -> None:
    """They are no children of ours; a killed process that is slow to end is still one."""
    words = ["sh", "-c", "for _ in 1 2 3 4 5 6 7 8; do sleep 600 & echo $!; done; echo; wait"]
    with ChildProgram(words, own_session=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        children = [int(line) for line in iter(process.stdout.readline, b"\n")]
        assert len(children) == 8
    assert [pid for pid in children if runs(pid)] == []
