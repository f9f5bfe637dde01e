"""Files are replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from autofinity.whole_file import check_replaceable, replace_file


@pytest.mark.parametrize("durable", [True, False])
def test_the_new_content_replaces_the_old_one(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "file"
    replace_file(path, "old", durable=durable)
    replace_file(path, b"\xffnew", durable=durable)
    assert path.read_bytes() == b"\xffnew"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_replaced_file_keeps_its_mode_also_behind_a_link(tmp_path: Path, mode: int) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    path.chmod(mode)
    link.symlink_to(path)
    for written in (path, link):
        replace_file(written, "new")
        assert stat.S_IMODE(path.stat().st_mode) == mode


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


@pytest.mark.parametrize("target", ["file", "folder/file", "folder/new"])
def test_a_link_stays_and_its_target_is_replaced_as_a_whole(tmp_path: Path, target: str) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("file", "folder/file"):
        (tmp_path / name).write_text("old")
    hard = tmp_path / "hard"
    hard.hardlink_to(tmp_path / "file")
    (tmp_path / "first").symlink_to(target)
    (tmp_path / "link").symlink_to("first")
    replace_file(tmp_path / "link", "new")
    assert (tmp_path / target).read_text() == "new"
    assert hard.read_text() == "old"  # replaced, not written into
    assert ((tmp_path / "link").readlink(), (tmp_path / "first").readlink()) == (
        Path("first"),
        Path(target),
    )
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_private_file_replaces_a_link_and_leaves_its_target(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    replace_file(tmp_path / "link", "new", private=True)
    assert (tmp_path / "file").read_text() == "old"
    assert (tmp_path / "link").read_text() == "new"
    assert not (tmp_path / "link").is_symlink()


@pytest.mark.parametrize(
    ("target", "number"), [("link", errno.ELOOP), ("missing/file", errno.ENOENT)]
)
def test_a_link_that_leads_nowhere_is_refused_by_its_own_name_and_stays(
    tmp_path: Path, target: str, number: int
) -> None:
    link = tmp_path / "link"
    link.symlink_to(target)
    for refused in (check_replaceable, lambda path: replace_file(path, "new")):
        with pytest.raises(OSError) as caught:
            refused(link)
        assert (caught.value.errno, str(caught.value.filename)) == (number, str(link))
    assert link.readlink() == Path(target)
    assert list(tmp_path.iterdir()) == [link]
