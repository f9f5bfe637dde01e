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
            f"{path} is a Go program: its threads and what they wait for are those of Go's own "
            "run-time system, which no capture sees; only programs that use POSIX threads or "
            "libgomp of the system can be captured"
        )
    if elf.is_static:
        return (
            f"{path} is statically linked: nobody can tell there who waits for whom; "
            "link it dynamically (without -static)"
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
            "the runtime saw it begin and not end: it left by a system call of its own, not by "
            "exit() or the end of main(), or became another program; a program with its own "
            "start-up (-nostartfiles) has to call exit()"
        )
    if any(_has_runtime(elf) for _, elf in found):
        return (
            "it was built for capture, but its beginning is its own: the dynamic linker ran none "
            "of the runtime's; build it without -nostartfiles and -nostdlib"
        )
    return (
        "its build must pass the flags of {cflags} (or {cxxflags}, {fflags}) and {ldflags} to "
        "compiler and linker"
    )


def _has_runtime(elf: Elf) -> bool:
    return any(name.startswith(("__tsan_", "__af_")) for name in elf.imports)
