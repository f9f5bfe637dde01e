"""Whatever a file argument names, a command ends: no device fills the memory, no FIFO is waited for
for ever, and `<(COMMAND)` is read like a file.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from planted import plant
from refusals import refused
from warm_commands import run_warm

from autofinity import given_file
from autofinity.given_file import read_given
from autofinity.resources import shipped

MATRIX = "0 1 2 3\n1 0 3 2\n2 3 0 1\n3 2 1 0\n"
COMMANDS = {
    "map": ("map", "--machine", "xeon-e5-2650", "--matrix"),
    "export": ("export",),
    "show": ("show",),
    "explain": ("explain", "--sample", "c=1"),
    "train": ("train", "--suite"),
    "evaluate": ("evaluate", "--machine", "xeon-e5-2650", "--observations"),
    "coverage": ("coverage", "--machine", "xeon-e5-2650"),
    "rules": ("rules",),
    "bins": ("bins",),
    "counters": ("counters",),
    "table": ("table",),
    "rebuild": ("rebuild", "--policy"),
    "topology": ("topology", "--machine"),
    "advise": ("advise", "--threads", "2", "--from"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["fifo.toml", "/dev/zero"])
def test_neither_a_device_nor_a_fifo_that_nobody_writes_keeps_a_command(
    tmp_path: Path, command: str, name: str
) -> None:
    if name != "/dev/zero":
        os.mkfifo(tmp_path / name)
    more = ("-o", tmp_path / "t.parquet") if command == "table" else ()
    refused(tmp_path, *COMMANDS[command], tmp_path / name, *more)


@pytest.mark.parametrize("command", ["map", "show", "coverage"])
def test_a_pipe_of_a_shell_is_read_like_a_file(tmp_path: Path, command: str) -> None:
    files = {
        "map": tmp_path / "matrix",
        "show": shipped("policies", "opteron-6164he.json"),
        "coverage": shipped("data", "observations", "xeon-e5-2650.parquet"),
    }
    files["map"].write_text(MATRIX)
    words = [sys.executable, "-m", "autofinity", *COMMANDS[command]]
    plain = run_warm([*COMMANDS[command], files[command]])
    script = 'file=$1; shift; exec "$@" <(sleep 0.3; cat "$file"; sleep 0.3)'
    piped = subprocess.run(
        ["bash", "-c", script, "bash", files[command], *words],
        env={**os.environ},  # readline, which pytest may load, sets COLUMNS behind its back
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (piped.returncode, plain.returncode) == (0, 0), piped.stderr
    lines = slice(6) if command == "map" else slice(None)  # below them, how long mapping took
    assert piped.stdout.splitlines()[lines] == plain.stdout.splitlines()[lines]


def test_a_fifo_whose_writer_comes_a_little_later_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given_file, "PATIENCE_S", 600)  # a busy machine holds the writer up
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    content = bytes(range(256)) * 1024
    writer = threading.Timer(0.2, lambda: fifo.write_bytes(content))
    writer.start()
    assert read_given(fifo, len(content)) == content
    writer.join()


def test_a_fifo_whose_writer_came_in_time_is_read_by_who_was_held_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Held up after it has looked for the last time, as it seems, at a FIFO without a writer."""
    fifo, now_s, read = tmp_path / "fifo", 0.0, os.read
    os.mkfifo(fifo)
    writers: list[int] = []

    def held_up(fd: int, size: int) -> bytes:
        nonlocal now_s
        found = read(fd, size)
        if not writers:
            now_s += 2 * given_file.PATIENCE_S
            writers.append(os.open(fifo, os.O_WRONLY))
            os.write(writers[0], b"text")
            os.close(writers[0])
        return found

    monkeypatch.setattr(os, "read", held_up)
    clock = SimpleNamespace(monotonic=lambda: now_s, sleep=lambda _: None)
    monkeypatch.setattr(given_file, "time", clock)
    assert read_given(fifo, 4) == b"text"


@pytest.mark.parametrize("kind", ["a file", "a pipe"])
def test_what_is_larger_than_its_bound_is_refused(tmp_path: Path, kind: str) -> None:
    if kind == "a file":
        (tmp_path / "large").touch()
        os.truncate(tmp_path / "large", 1 << 40)
        with pytest.raises(OSError, match="more than 1 MiB"):
            read_given(tmp_path / "large", 1 << 20)
        return
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        with pytest.raises(OSError, match="more than 1 MiB"):
            read_given(Path(f"/dev/fd/{endless.stdout.fileno()}"), 1 << 20)
        endless.stdout.close()


@pytest.mark.parametrize("kind", ["a FIFO", "a link to a device", "a folder"])
def test_what_is_no_file_is_refused_with_its_name(tmp_path: Path, kind: str) -> None:
    plant(kind, tmp_path / "it")
    with pytest.raises(OSError) as told:
        read_given(tmp_path / "it", 1 << 20)
    assert told.value.filename == str(tmp_path / "it") and told.value.strerror
