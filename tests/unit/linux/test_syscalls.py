"""System calls by number: each architecture has its own."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import pytest

from autofinity.linux import syscalls
from autofinity.linux.syscalls import syscall


@pytest.mark.parametrize(
    ("machine", "perf_event_open", "move_pages"),
    [
        ("x86_64", 298, 279),
        ("aarch64", 241, 239),
        ("riscv64", 241, 239),
        ("ppc64le", 319, 301),
        ("s390x", 331, 310),
    ],
)
def test_a_call_has_the_number_of_its_architecture(
    machine: str, perf_event_open: int, move_pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[int] = []

    def made(number: object, *arguments: object) -> int:
        del arguments
        called.append(number.value)  # type: ignore[attr-defined]
        return 0

    monkeypatch.setattr(syscalls, "_libc", SimpleNamespace(syscall=made))
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    syscall("perf_event_open", 0)
    syscall("move_pages", 0)
    assert called == [perf_event_open, move_pages]


@pytest.mark.parametrize("machine", ["i686", "armv7l", "mips64"])
def test_no_other_call_is_made_where_numbers_are_not_known(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syscalls, "_libc", None)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    with pytest.raises(OSError, match=machine) as caught:
        syscall("move_pages", 0)
    assert caught.value.errno == errno.ENOSYS
