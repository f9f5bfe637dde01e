"""Commands that a document prints, run as they are printed: by a shell, in one folder, in order.

A block of code in `sh` is a session of commands. A block in `text` that follows it directly is its
output: every line of the block is a line of the output, in the same order, where blanks compare as
one blank; `…` stands for any text within a line, and alone for any lines. The comment
`<!-- not run: REASON -->` before a block keeps it from being run, and the reason is printed.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>[^\n]*?) -->\s*)?"
    r"^```sh\n(?P<commands>.*?)^```$"
    r"(?:\s*^```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
_ANY = "…"


@dataclass(frozen=True, slots=True)
class Session:
    """Commands of one block, and what the document says that they print."""

    line: int
    """Line of the document, counted from 1."""
    commands: str
    output: tuple[str, ...]
    not_run: str | None


def sessions(document: Path) -> Iterator[Session]:
    """The blocks of commands of a Markdown document."""
    text = document.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        yield Session(
            text.count("\n", 0, found.start("commands")) + 1,
            found["commands"],
            tuple((found["output"] or "").splitlines()),
            found["why"],
        )


def environment(folder: Path) -> dict[str, str]:
    """Environment of a user whose home is in `folder`, and whose shell has the tested commands.

    The environment `.venv` that documents speak of is a link to the tested one.
    """
    (folder / ".venv").symlink_to(sys.prefix)
    return new_user(folder) | {"PATH": f"{sys.prefix}/bin:{os.environ.get('PATH', os.defpath)}"}


def new_user(folder: Path) -> dict[str, str]:
    """Environment of a user who has set nothing, with a home in `folder`."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AUTOFINITY_", "OMP_", "XDG_"))
    }
    return {**kept, "HOME": str(home), "COLUMNS": "80"}


def run(session: Session, folder: Path, env: dict[str, str], timeout_s: float = 1200) -> str:
    """Run a session; both streams. Raises AssertionError where a command fails, or prints something
    else than the document says.
    """
    shell = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", session.commands],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = shell.communicate(timeout=timeout_s)
    except BaseException:
        os.killpg(shell.pid, signal.SIGKILL)  # what the shell has started, too
        shell.communicate()
        raise
    assert shell.returncode == 0, f"line {session.line}: {session.commands}\n{printed}"
    assert "Traceback" not in printed, printed
    missing = first_missing(session.output, printed)
    assert missing is None, f"line {session.line}: not printed: {missing}\n{printed}"
    return printed


def first_missing(expected: tuple[str, ...], printed: str) -> str | None:
    """The first expected line that the output lacks where it is due; None: all are there."""
    lines = iter(_plain(line) for line in printed.splitlines())
    anywhere = True
    for wanted in map(_plain, expected):
        if wanted in ("", _ANY):
            anywhere = anywhere or wanted == _ANY
            continue
        pattern = re.compile(".*".join(map(re.escape, wanted.split(_ANY))))
        for line in lines:
            if pattern.fullmatch(line):
                break
            if line and not anywhere:
                return wanted
        else:
            return wanted
        anywhere = False
    return None


def _plain(line: str) -> str:
    return " ".join(line.split())
