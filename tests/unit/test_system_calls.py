"""Native code asks for system calls that Linux has on every architecture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "autofinity/native"
EVERYWHERE = Path("/usr/include/asm-generic/unistd.h")
"""Calls of the architectures that came after x86: arm64, riscv64, loongarch64."""
SOURCES = sorted(file for kind in ("c", "h", "cpp", "hpp") for file in NATIVE.rglob(f"*.{kind}"))


def test_every_system_call_is_one_of_newer_architectures_too() -> None:
    if not EVERYWHERE.exists():
        pytest.skip(f"no {EVERYWHERE} to compare with (Debian: linux-libc-dev)")
    known = set(re.findall(r"#define __NR(?:3264)?_(\w+) ", EVERYWHERE.read_text()))
    assert {"readlinkat", "perf_event_open", "lseek"} <= known
    assert {"readlink", "open", "poll", "fork"}.isdisjoint(known)
    asked = {
        (name, file.name)
        for file in SOURCES
        for name in re.findall(r"\b(?:SYS|__NR)_(\w+)", file.read_text())
    }
    assert len(asked) > 10
    assert {(name, file) for name, file in asked if name not in known} == set()
