"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from autofinity.whole_file import replace_file


@pytest.mark.parametrize("durable", [True, False])
def test_the_new_content_replaces_the_old_one(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "file"
    replace_file(path, "old", durable=durable)
    replace_file(path, b"\xffnew", durable=durable)
    assert path.read_bytes() == b"\xffnew"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as caught:
        replace_file(path, "new")
    assert (caught.value.filename, caught.value.filename2) == (str(path), None)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_missing_is_told_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        replace_file(tmp_path / "missing" / "file", "new")
    assert caught.value.filename == str(tmp_path / "missing" / "file")


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    replace_file(path, "through")
    reader.join(20)
    assert got == ["through"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_what_is_no_regular_file_is_named_when_it_takes_no_more() -> None:
    with pytest.raises(OSError, match="/dev/full"):
        replace_file(Path("/dev/full"), b"content")


@pytest.mark.parametrize("name", ["link", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("how", ["w", "a"])
def test_an_open_file_gets_the_content_behind_its_own_and_keeps_its_name(
    tmp_path: Path, name: str, how: str
) -> None:
    source = "from pathlib import Path; import sys, autofinity.whole_file as w"
    source += "; print('before', flush=True); w.replace_file(Path(sys.argv[1]), 'content\\n')"
    (tmp_path / "link").symlink_to("/proc/self/fd/1")  # as /dev/stdout, which a bug must not cost
    path = tmp_path / "file"
    path.write_text("old\n")
    with path.open(how) as stdout:
        words = [sys.executable, "-c", source, name]
        subprocess.run(words, stdout=stdout, check=True, cwd=tmp_path)
    assert path.read_text() == ("old\n" if how == "a" else "") + "before\ncontent\n"
    assert (tmp_path / "link").readlink() == Path("/proc/self/fd/1")
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "link"]
