"""A program started on this machine to be profiled: bound, counted, and timed between its marks.

    start (marks preloaded) ─► "it begins" ─► threads bound and counted ─► go ─► … ─► "it ends"

A program without marks is timed as a whole. Threads appear at any time. Threads that are seen to
compute get the masks of the placement in that order; others may run on any of its CPUs.
"""

from __future__ import annotations

import os
import re
import select
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Never

from autofinity.child_program import ChildProgram
from autofinity.linux.event_tables import Encoding
from autofinity.linux.process import LinuxProcess, open_pidfd
from autofinity.model.errors import LinuxError
from autofinity.model.placement import Placement
from autofinity.model.topology import OsIndex
from autofinity.ports import Action, BindThreads, Interval, Outcome, RunRequest
from autofinity.preload import preloadable

_MARK = struct.Struct("qq")
_BEGINS, _ENDS = 1, 2
_LOOK_NS = 5_000_000
"""Time between two looks while threads are not bound yet."""
_COMPUTES, _LEAST_NS = 0.3, 1_000_000
"""Share of the busiest thread's CPU time, and time, in one look, from which on a thread is a
worker: helpers, and a main thread that waits for the others, are not."""
_SHOWN_BYTES = 300


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of a program besides its arguments."""

    marks: bool = True
    """Whether the program marks its region of interest."""
    expect: str = ""
    """Regular expression that its output has to contain; empty for none."""
    timeout_s: float = 600.0
    stdin: Path = Path(os.devnull)
    """File that the program reads as its standard input."""


class MarkedRun:
    """`ports.Process` of one run."""

    def __init__(
        self,
        request: RunRequest,
        placement: Placement | None,
        counters: Mapping[str, Encoding],
        conditions: Conditions,
    ) -> None:
        """Start the program, and wait for its region to begin.

        Without a placement the program is left to the system. Raises `LinuxError` when it cannot be
        started, or ends before its region.
        """
        self._request, self._conditions = request, conditions
        self._masks = () if placement is None else placement.masks
        self._numbers: dict[int, int] = {}
        """Number of each live thread, by kernel id."""
        self._workers: list[int] = []
        """Numbers of the computing threads, in the order of the masks."""
        self._deadline_ns = time.monotonic_ns() + round(conditions.timeout_s * 1e9)
        self._ended = False
        self._from_ns = 0
        self._closing = ExitStack()
        try:
            self._start(counters)
        except BaseException:
            self._closing.close()
            raise

    def advance(self, duration_ns: int) -> Interval:
        """Let the program run, at most to the end of its region, and return what was counted.

        Raises `LinuxError` when the program fails, gives a wrong answer or takes too long.
        """
        parts: list[Interval] = []
        until_ns = time.monotonic_ns() + duration_ns
        while not parts or (not self._ended and time.monotonic_ns() < until_ns):
            left_ns = max(1, until_ns - time.monotonic_ns())
            all_bound = len(self._workers) == len(self._masks)
            part = self._process.advance(left_ns if all_bound else min(left_ns, _LOOK_NS))
            parts.append(part)
            self._bind_workers(part)
            end_ns = self._told(_ENDS)
            self._ended = part.ended or end_ns is not None
            self._check_time()
        start_ns, self._from_ns = self._from_ns, end_ns or parts[-1].end_ns
        if self._ended:
            self._finish()
        samples = tuple(sample for part in parts for sample in part.samples)
        return Interval(start_ns, self._from_ns, samples, ended=self._ended)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Bind the workers to new masks; later workers get these masks, too."""
        for action in actions:
            if isinstance(action, BindThreads):
                self._masks = action.placement.masks
        return self._bind()

    def close(self) -> None:
        """End the program if it still runs, and release everything."""
        self._closing.close()

    def _start(self, counters: Mapping[str, Encoding]) -> None:
        allowed = frozenset(map(OsIndex, os.sched_getaffinity(0)))
        cpus = frozenset[OsIndex]().union(*self._masks) if self._masks else allowed
        self._output = os.memfd_create("autofinity-output")
        self._closing.callback(os.close, self._output)
        self._marks, theirs = self._pipe()
        go, self._go = self._pipe()
        preload = ""
        if self._conditions.marks:
            preload = self._closing.enter_context(preloadable(marks_library()))
        self._child = self._spawn(cpus, theirs, go, preload)
        pidfd = open_pidfd(self._child.pid)
        self._closing.callback(os.close, pidfd)
        self._process = LinuxProcess(self._child.pid, pidfd, cpus, counters)
        self._closing.callback(self._process.close)
        if self._conditions.marks:
            while self._told(_BEGINS) is None:
                if self._child.poll() is not None:
                    self._finish()
                    raise LinuxError(
                        f"{self._request.program} ended without beginning its region of interest; "
                        'expected a call of roi_begin() of autofinity_roi.h, or roi = "whole"'
                    )
                self._check_time()
                select.select([self._marks], [], [], 0.01)
        self._bind_workers(self._process.advance(1_000_000))  # counters are attached by looking
        self._from_ns = time.monotonic_ns()
        os.write(self._go, b"g")

    def _pipe(self) -> tuple[int, int]:
        reading, writing = os.pipe()
        self._closing.callback(os.close, reading)
        self._closing.callback(os.close, writing)
        return reading, writing

    def _spawn(
        self, cpus: frozenset[OsIndex], marks: int, go: int, preload: str
    ) -> subprocess.Popen[bytes]:
        request, env = self._request, dict(self._request.env)
        if preload:
            env["LD_PRELOAD"] = ":".join(filter(None, (preload, env.get("LD_PRELOAD", ""))))
            env |= {"AUTOFINITY_MARKS": str(marks), "AUTOFINITY_GO": str(go)}
        before = os.sched_getaffinity(0)
        try:
            standard_input = self._closing.enter_context(self._conditions.stdin.open("rb"))
            os.sched_setaffinity(0, cpus)  # inherited
            started = ChildProgram(
                request.argv or (request.program,),
                own_session=True,
                executable=request.program,
                stdin=standard_input,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                cwd=request.cwd,
                env=env,
                pass_fds=(marks, go),
            )
            return self._closing.enter_context(started)
        except OSError as error:
            raise LinuxError(f"cannot start {request.program}: {error.strerror}") from error
        finally:
            os.sched_setaffinity(0, before)

    def _told(self, kind: int) -> int | None:
        """Time of a mark of this kind that has come by now; None without one."""
        while select.select([self._marks], [], [], 0)[0]:
            came, at_ns = _MARK.unpack(os.read(self._marks, _MARK.size))
            if came == kind:
                return int(at_ns)
        return None

    def _bind_workers(self, seen: Interval) -> None:
        """Give masks to threads that are seen to compute for the first time."""
        for event in seen.thread_events:
            if event.kind == "begin":
                self._numbers[event.tid] = event.thread
            elif self._numbers.pop(event.tid, None) in self._workers:
                self._workers.remove(event.thread)
        used = {sample.tid: sample.counts.get("task_clock_ns", 0) for sample in seen.samples}
        least_ns = max(_LEAST_NS, _COMPUTES * max(used.values(), default=0))
        busy = [tid for tid, ns in used.items() if ns >= least_ns]
        new = [n for tid in busy if (n := self._numbers.get(tid)) not in (None, *self._workers)]
        room = len(self._masks) - len(self._workers)
        if new[:room]:
            self._workers += [number for number in new[:room] if number is not None]
            self._bind()

    def _bind(self) -> Outcome:
        masks = [frozenset[OsIndex]()] * (max(self._workers, default=-1) + 1)
        for worker, mask in zip(self._workers, self._masks, strict=False):
            masks[worker] = mask
        return self._process.apply((BindThreads(Placement(tuple(masks))),))

    def _check_time(self) -> None:
        if time.monotonic_ns() > self._deadline_ns:
            self._fail(f"ran for more than {self._conditions.timeout_s:g} s and was ended")

    def _finish(self) -> None:
        """Wait for the program to end and check its output."""
        left_s = max(1.0, (self._deadline_ns - time.monotonic_ns()) / 1e9)
        try:
            code = self._child.wait(left_s)
        except subprocess.TimeoutExpired:
            self._fail("did not end after its region of interest and was ended")
        said = self._said()
        if code != 0:
            self._fail(f"failed (exit code {code}): {said[-_SHOWN_BYTES:].strip()}")
        if not re.search(self._conditions.expect, said, re.MULTILINE):
            self._fail(
                f"answered {said[:_SHOWN_BYTES].strip()!r}, expected {self._conditions.expect!r}"
            )
        self._closing.close()

    def _said(self) -> str:
        return os.pread(self._output, 1 << 20, 0).decode(errors="replace")

    def _fail(self, why: str) -> Never:
        self._closing.close()
        raise LinuxError(f"{self._request.program} {why}")


def marks_library() -> Path:
    """Path of the library to preload. Raises `LinuxError` when it is not built."""
    path = Path(__file__).resolve().parent.parent / "lib" / "marks" / "libautofinity-marks.so"
    if not path.exists():
        raise LinuxError(
            f"{path} is missing; install autofinity with a C compiler at hand (in a source tree: "
            "make dev)"
        )
    return path
