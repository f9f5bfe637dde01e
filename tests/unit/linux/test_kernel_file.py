"""Files of the kernel are read to their end, however much it returns at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autofinity.linux.kernel_file import read_text


def test_a_short_read_is_not_the_last_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read = os.read
    monkeypatch.setattr(os, "read", lambda fd, size: read(fd, min(size, 1000)))
    path = tmp_path / "children"
    path.write_text("12345 " * 700)
    assert read_text(path) == "12345 " * 700


def test_the_kernels_own_records_are_all_there() -> None:
    vmstat = Path("/proc/vmstat")
    names = [line.split()[0] for line in vmstat.read_text().splitlines()]
    assert [line.split()[0] for line in read_text(vmstat).splitlines()] == names


def test_a_file_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    assert read_text(tmp_path / "none") == ""
    assert read_text(tmp_path) == ""
