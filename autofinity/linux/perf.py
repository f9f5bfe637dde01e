"""Hardware and software counters of threads.

    open_thread(tid, names → encodings) ─► ThreadCounters ─ read() ─► CounterSample
                                            (one group, or as many as the PMU forces)

Counting is per thread and in user space only: counts of the kernel need privileges (EACCES),
`inherit` reads as a sum over threads, and excluded events read 0 (context switches; /proc has
them).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from autofinity.linux.event_tables import Encoding, cycles_beside, on_pmu
from autofinity.linux.kernel_file import read_number
from autofinity.linux.perf_event import open_event
from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError

_IOC_ENABLE = 0x2400
_SETTLING_READS, _SETTLING_S = 100, 0.001  # a thread takes microseconds to end

_MEANINGS = {
    errno.ENOENT: "this machine has no such counter (no PMU, or a virtual machine without one)",
    errno.EACCES: "not permitted; lower kernel.perf_event_paranoid to 2 or run with CAP_PERFMON",
    errno.EPERM: "not permitted; allow perf_event_open in the container's seccomp profile",
    errno.EOPNOTSUPP: "this PMU does not support the event",
    errno.ENODEV: "this PMU does not support the event on this CPU",
    errno.EINVAL: "the kernel does not know this event",
    errno.EMFILE: "too many open files; raise RLIMIT_NOFILE (ulimit -n)",
    errno.ENOSYS: "this kernel has no perf events (CONFIG_PERF_EVENTS)",
    errno.EBUSY: "another user holds the counters",
    errno.ESRCH: "the thread is gone",
}


def explain(code: int) -> str:
    """Text such as `ENOENT: what it means and what to do` for an errno of perf_event_open."""
    name = "EOPNOTSUPP" if code == errno.EOPNOTSUPP else errno.errorcode.get(code, str(code))
    return f"{name}: {_MEANINGS.get(code, os.strerror(code))}"


@dataclass(frozen=True, slots=True)
class _Group:
    """One group of counters, read and scheduled as a whole."""

    leader: int
    fds: tuple[int, ...]
    names: tuple[str, ...]
    """Name of each descriptor; descriptors of the same name are added."""


class ThreadCounters:
    """Open counters of one thread. Close them; otherwise the kernel goes on counting."""

    __slots__ = ("_before", "_begin_ns", "_groups", "_tid")

    def __init__(self, tid: int, groups: Sequence[_Group]) -> None:
        self._tid = tid
        self._groups = tuple(groups)
        self._begin_ns, self._before, _ = self._read()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the counters, each once."""
        return tuple(dict.fromkeys(name for group in self._groups for name in group.names))

    def sample(self) -> CounterSample:
        """Counts since the last call (or since opening), with the time that the PMU really counted.

        `start_ns` is taken before the reading that begins the sample and `end_ns` after the reading
        that ends it, so that the time encloses the counts. No count is lost or in two samples, but
        the times of neighbours overlap by one reading (microseconds). Times are of CLOCK_MONOTONIC;
        the kernel counts by its scheduler clock, which is not slewed with it.

        Counts of a group that the PMU never had while the thread ran are left out.
        """
        begin_ns, now, end_ns = self._read()
        times = [
            (after[0] - before[0], after[1] - before[1])
            for after, before in zip(now, self._before, strict=True)
        ]
        enabled = max((each[0] for each in times), default=0)
        running = max((each[1] for each in times), default=0)
        unseen = {
            name
            for group, (group_enabled, group_running) in zip(self._groups, times, strict=True)
            if group_enabled and not group_running
            for name in group.names
        }
        counts = {name: 0 for name in self.names if name not in unseen}
        for group, after, before, (group_enabled, group_running) in zip(
            self._groups, now, self._before, times, strict=True
        ):
            # Groups take turns on the PMU: each is brought to the time of the longest-running one,
            # so that one pair of times serves the whole sample.
            scale = 1.0
            if group_running and (group_enabled, group_running) != (enabled, running):
                scale = group_enabled / group_running * (running / enabled if enabled else 0)
            for name, new, old in zip(group.names, after[2], before[2], strict=True):
                if name in unseen:
                    continue
                counts[name] += new - old if scale == 1 else round((new - old) * scale)
        start_ns, self._begin_ns, self._before = self._begin_ns, begin_ns, now
        return CounterSample(self._tid, start_ns, end_ns, counts, enabled, running)

    def _read(self) -> tuple[int, list[tuple[int, int, tuple[int, ...]]], int]:
        """Start of the reading, (enabled, running, counts) of each group, end of the reading."""
        begin_ns = time.monotonic_ns()
        found = []
        for group in self._groups:
            count = len(group.fds)
            words = struct.unpack(f"{3 + count}Q", os.read(group.leader, 8 * (3 + count)))
            found.append((words[1], words[2], words[3:]))
        return begin_ns, found, time.monotonic_ns()

    def close(self) -> None:
        """Stop counting."""
        for group in self._groups:
            for fd in group.fds:
                os.close(fd)


class SeveralPmus:
    """Open counters of one thread on a machine of several core kinds: the sum over their PMUs.

    Each PMU counts while the thread is on a core of its kind.
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: Sequence[ThreadCounters]) -> None:
        self._parts = tuple(parts)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the counters."""
        return self._parts[0].names

    def sample(self) -> CounterSample:
        """Counts as from `ThreadCounters.sample`. The running time is that of all PMUs together."""
        samples = [part.sample() for part in self._parts]
        # Where one PMU has counted, another one counts only if the thread was there, too.
        seen = [each for each in samples if each.running_ns] or samples
        names = [name for name in self.names if all(name in each.counts for each in seen)]
        counts = {name: sum(each.counts[name] for each in seen) for name in names}
        enabled = max(each.enabled_ns for each in samples)
        running = min(enabled, sum(each.running_ns for each in samples))
        return CounterSample(
            samples[0].tid,
            min(each.start_ns for each in samples),
            max(each.end_ns for each in samples),
            counts,
            enabled,
            running,
        )

    def close(self) -> None:
        """Stop counting."""
        for part in self._parts:
            part.close()


def enable(fd: int) -> None:
    """Start, or continue, an event and the events that inherited it. An event that has ended is
    ignored.
    """
    with contextlib.suppress(OSError):
        fcntl.ioctl(fd, _IOC_ENABLE, 0)


@cache
def watchdog_counts() -> bool:
    """Whether the kernel's watchdog holds a counter of every CPU, cycles, for good."""
    return read_number("/proc/sys/kernel/nmi_watchdog") == 1


def open_thread(tid: int, wanted: Mapping[str, Encoding]) -> ThreadCounters:
    """Count `wanted` on one thread from now on, in as few groups as the PMU allows.

    Events of one group share one time. The kernel refuses a group that is too large for the PMU
    with EINVAL; the remaining events then open a new group (the PMU multiplexes, and the sample
    shows that). It takes no account of the counter that its watchdog holds: a group that needs all
    counters would never run, so a stand-in for the watchdog is in each group until it is complete.

    Raises `CapabilityError`, with errno's name and the remedy, when any event is refused.
    """
    groups: list[_Group] = []
    fds: list[int] = []
    names: list[str] = []
    stand_in: list[int] = []

    def lead(encoding: Encoding) -> int:
        fd = open_event(encoding, tid, disabled=True)
        if watchdog_counts():
            with contextlib.suppress(OSError):  # a PMU of one counter, or none
                stand_in.append(open_event(cycles_beside(encoding), tid, fd))
        return fd

    def finish() -> None:
        for fd in stand_in:
            os.close(fd)
        stand_in.clear()
        if fds:
            fcntl.ioctl(fds[0], _IOC_ENABLE, 0)
            groups.append(_Group(fds[0], tuple(fds), tuple(names)))
            fds.clear()
            names.clear()

    events = [(name, event) for name, encoding in wanted.items() for event in encoding.events]
    try:
        for name, encoding in events:
            try:
                # A sibling that joins a group which counts already counts nothing until the thread
                # is next switched out (measured): so the leader starts last.
                fd = open_event(encoding, tid, fds[0]) if fds else lead(encoding)
            except OSError as error:
                if not fds or error.errno != errno.EINVAL:
                    raise
                finish()
                fd = lead(encoding)
            fds.append(fd)
            names.append(name)
        finish()
        return ThreadCounters(tid, groups)
    except OSError as error:
        finish()
        for group in groups:
            for fd in group.fds:
                os.close(fd)
        raise CapabilityError(
            f"cannot count {', '.join(wanted)}: {explain(error.errno or 0)}"
        ) from error


def open_on_kinds(
    tid: int, wanted: Mapping[str, Encoding], pmus: Sequence[int]
) -> ThreadCounters | SeveralPmus:
    """`open_thread` on each of the PMUs of a machine of several core kinds; without `pmus`, as it
    is.

    Raises the errors of `open_thread`; `CapabilityError` for raw codes, which belong to one kind
    alone.
    """
    if not pmus:
        return open_thread(tid, wanted)
    parts: list[ThreadCounters] = []
    try:
        for pmu in pmus:
            here = {name: on_pmu(encoding, pmu) for name, encoding in wanted.items()}
            one_kind = [name for name, encoding in here.items() if encoding is None]
            if one_kind:
                raise CapabilityError(
                    f"cannot count {', '.join(one_kind)}: only one of the core kinds has it"
                )
            parts.append(open_thread(tid, {name: each for name, each in here.items() if each}))
    except CapabilityError:
        for part in parts:
            part.close()
        raise
    return SeveralPmus(parts)


def _read_when_settled(leader: int, size_bytes: int) -> bytes:
    for _ in range(_SETTLING_READS):
        try:
            return os.read(leader, size_bytes)
        except ChildProcessError:
            time.sleep(_SETTLING_S)
    return os.read(leader, size_bytes)


def read_totals(leader: int, names: Sequence[str]) -> dict[str, int]:
    """Counts of a whole run from a group that its threads and children inherited.

    With `inherit` the kernel reads the sum over all of them, including those that have ended. While
    one is ending, the kernel may refuse (ECHILD), and is asked again. Counts of a multiplexed group
    are extrapolated. Empty when the group never counted.
    """
    try:
        content = _read_when_settled(leader, 8 * (3 + len(names)))
        words = struct.unpack(f"{3 + len(names)}Q", content)
    except (OSError, struct.error):
        return {}
    _, enabled, running, *counts = words
    if not running:
        return {}
    return {
        name: round(count * enabled / running) for name, count in zip(names, counts, strict=True)
    }
