"""Folders where others may write: nothing of theirs is executed or written through, and a user's
own folders are made for that user alone.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
from pathlib import Path

import pytest
from planted import NOBODY, plant

from autofinity.capture.build import Built, build_program
from autofinity.capture.compilers import Compilers
from autofinity.capture.trace_folder import trace_folder
from autofinity.model.errors import CaptureError, SuiteError, UsageError
from autofinity.new_folder import make_missing
from autofinity.trace.manifest import load_suite
from autofinity.workflow.measure_speeds import measure_speeds
from autofinity.workflow.wanted import work_folder

MANIFEST = """
[suite]
name = "ours"
[programs.p]
build = "{cc} -o {out}/p {dir}/p.c"
run = ["{out}/p"]
roi = "whole"
inputs = { tiny = "" }
"""
OURS = '#include <stdio.h>\nint main(void) { puts("ours"); return 0; }\n'
THEIRS = "#!/bin/sh\necho theirs\n"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")


def built(folder: Path) -> Built:
    (folder / "p.c").write_text(OURS)
    (folder / "suite.toml").write_text(MANIFEST)
    suite = load_suite(folder / "suite.toml")
    program = suite.programs["p"]
    cache = folder / "builds"
    return build_program(suite, program, Compilers.find(os.environ), cache, instrumented=False)


def says(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def test_a_program_that_another_user_has_put_in_place_of_a_build_is_not_taken(
    tmp_path: Path,
) -> None:
    out = built(tmp_path).out
    plant("another user's", out)
    with pytest.raises(SuiteError, match=r"it is another user's \(uid 65534\); name another work"):
        built(tmp_path)


def test_a_link_in_place_of_a_build_is_not_followed(tmp_path: Path) -> None:
    out = built(tmp_path).out
    out.rename(tmp_path / "elsewhere")
    out.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SuiteError, match="cannot be built in"):
        built(tmp_path)


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_a_build_that_others_could_exchange_is_made_again(mode: int, tmp_path: Path) -> None:
    out = built(tmp_path).out
    (out / "p").unlink()
    (out / "p").write_text(THEIRS)
    (out / "p").chmod(0o755)
    out.chmod(mode)
    assert says(built(tmp_path).out / "p") == "ours\n"


@pytest.mark.parametrize("umask", [0, 0o002, 0o077])
def test_nobody_else_can_exchange_a_build_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    old = os.umask(umask)
    try:
        out = built(tmp_path).out
    finally:
        os.umask(old)
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert built(tmp_path).out == out


def test_no_trace_is_recorded_in_another_users_folder(tmp_path: Path) -> None:
    target = tmp_path / "of somebody"
    target.write_text("as it was")
    partial = tmp_path / ".a.partial"
    partial.mkdir()
    (partial / "stream-0000.aft").symlink_to(target)
    plant("another user's", partial)
    with pytest.raises(CaptureError, match="another user's"), trace_folder(tmp_path, "a", "a"):
        pass
    assert target.read_text() == "as it was"
    assert (partial / "stream-0000.aft").is_symlink()


@pytest.mark.parametrize("umask", [0, 0o002, 0o777])
@pytest.mark.parametrize("place", [".cache", ".config", "named"])
def test_a_users_own_folders_are_made_private_whatever_the_umask(
    place: str, umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if place == "named":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "named"))
    old = os.umask(umask)
    try:
        make_missing(tmp_path / place / "autofinity" / "traces")
    finally:
        os.umask(old)
    made = [tmp_path / place, *(tmp_path / place).rglob("*")]
    assert [stat.S_IMODE(each.stat().st_mode) for each in made] == [0o700] * 3


def test_a_users_own_folder_is_never_open_to_others_also_on_a_file_system_without_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such file systems (FAT, some of FUSE) refuse to change a mode."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def refused(folder: Path, mode: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(folder))

    monkeypatch.setattr(Path, "chmod", refused)
    old = os.umask(0)
    try:
        make_missing(tmp_path / ".cache" / "autofinity")
    finally:
        os.umask(old)
    made = (tmp_path / ".cache", tmp_path / ".cache" / "autofinity")
    assert [stat.S_IMODE(each.stat().st_mode) for each in made] == [0o700] * 2


def test_the_umask_decides_who_may_use_a_folder_that_a_user_names(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        make_missing(tmp_path / "shared" / "traces")
    finally:
        os.umask(old)
    made = (tmp_path / "shared", tmp_path / "shared" / "traces")
    assert [stat.S_IMODE(each.stat().st_mode) for each in made] == [0o750] * 2


def test_a_file_in_the_way_of_a_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_missing(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        make_missing(tmp_path / "file" / "a" / "b")


def test_a_relative_cache_folder_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    folder = work_folder(None, tmp_path / "suite.toml")
    assert folder.is_relative_to(tmp_path / "home" / ".cache" / "autofinity")


@as_root
def test_root_keeps_no_speeds_in_another_users_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "nb"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with pytest.raises(UsageError, match="another user's"):
        measure_speeds()
    assert list(home.iterdir()) == []
