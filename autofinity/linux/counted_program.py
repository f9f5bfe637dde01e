"""A program that runs to its end, timed, and counted as a whole: all its threads and children."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autofinity.child_program import exit_code_of
from autofinity.linux.event_tables import Encoding
from autofinity.linux.gated_start import start_gated
from autofinity.linux.handed_signals import signals_are_for
from autofinity.linux.perf import read_totals
from autofinity.linux.perf_event import open_event


@dataclass(frozen=True, slots=True)
class CountedRun:
    """Result of the run."""

    exit_code: int
    """Exit code: 128 + n for signal n; 126 or 127 where the program cannot be run."""
    elapsed_s: float
    """Time from its exec to its end."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts by name, without events that the kernel did not count."""


def run_counted(
    argv: Sequence[str],
    environment: Mapping[str, str],
    counters: Mapping[str, Encoding],
    *,
    to_stderr: bool = False,
) -> CountedRun:
    """Run a program to its end with empty standard input; its output is ours, or goes to stderr
    (`to_stderr`).

    Ctrl-C is left to the program, and SIGTERM is forwarded to it. Events that cannot be counted are
    left out.
    """
    no_input = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    output = [(os.POSIX_SPAWN_DUP2, 2, 1)] if to_stderr else []
    pid, ready = start_gated(argv, environment, [no_input, *output])
    opened = {name: _opened(encoding, pid) for name, encoding in counters.items()}
    with signals_are_for(pid):
        began_s = time.monotonic()
        os.write(ready, b"1")
        os.close(ready)
        _, status = os.waitpid(pid, 0)
        elapsed_s = time.monotonic() - began_s
    counts = {name: _total(fds) for name, fds in opened.items()}
    return CountedRun(
        exit_code_of(status),
        elapsed_s,
        {name: count for name, count in counts.items() if count is not None},
    )


def _opened(encoding: Encoding, pid: int) -> list[int]:
    """One descriptor for each event, inherited by threads and children; empty where one is
    refused.
    """
    fds: list[int] = []
    try:
        for event in encoding.events:
            fds.append(open_event(event, pid, inherit=True, disabled=True, at_exec=True))
    except OSError:
        for fd in fds:
            os.close(fd)
        return []
    return fds


def _total(fds: Sequence[int]) -> int | None:
    """The sum of the events; None where one event did not count."""
    found = [read_totals(fd, ("count",)) for fd in fds]
    for fd in fds:
        os.close(fd)
    return sum(each["count"] for each in found) if found and all(found) else None
