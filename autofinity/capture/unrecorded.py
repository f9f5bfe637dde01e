"""Reasons why a run was not recorded, from the program's file and from traces of the runtime."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autofinity.capture.elf import Elf, read_elf


def not_recordable(path: Path) -> str | None:
    """Reason why no capture can record the program's threads; None where one can, or for a file
    that is no program.
    """
    elf = read_elf(path)
    if elf is None or not elf.starts:
        return None
    if elf.is_go:
        return (
            f"{path} is a Go program, and a capture does not see the threads and waits of Go's "
            "own run-time system; expected a program that uses POSIX threads or libgomp of the "
            "system"
        )
    if elf.is_static:
        return (
            f"{path} is statically linked, so a capture cannot see which thread waits for "
            "which; link it dynamically (without -static)"
        )
    return None


def why_nothing_was_recorded(partial: Path, programs: Iterable[Path]) -> str:
    """Reason for a run that ended successfully; `programs` are the files that it may have
    executed.
    """
    found = [(path, elf) for path in programs if (elf := read_elf(path)) is not None]
    for path, _ in found:
        if (reason := not_recordable(path)) is not None:
            return reason
    if (partial / "owner").exists():
        return (
            "the runtime recorded its begin but no end: it ended by a system call of its own, "
            "not by exit() or the end of main(), or became another program; a program with its own "
            "start-up code (-nostartfiles) has to call exit()"
        )
    if any(_has_runtime(elf) for _, elf in found):
        return (
            "it was built for capture, but its own start-up code does not start the capture "
            "runtime; build it without -nostartfiles and -nostdlib"
        )
    return (
        "its build must pass the flags of {cflags} (or {cxxflags}, {fflags}) and {ldflags} to "
        "compiler and linker"
    )


def _has_runtime(elf: Elf) -> bool:
    return any(name.startswith(("__tsan_", "__af_")) for name in elf.imports)
