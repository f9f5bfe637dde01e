"""Threads of a program, and of the descendants that compute for it, from /proc.

Everything may vanish between two looks: a missing file means that the process or thread has ended,
never an error.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from autofinity.linux.kernel_file import read_text
from autofinity.linux.time_namespace import shift_ticks
from autofinity.model.topology import OsIndex

NS_PER_S = 1_000_000_000
_NS_PER_TICK = NS_PER_S // os.sysconf("SC_CLK_TCK")
_LARGEST_FAMILY = 4096
_EXIT_SIGNAL = 35  # place in a stat line, counted after the name

# Threads that serve others, by the names their runtimes give them (15 characters at most).
_HELPER_PREFIXES = (
    "GC Thread",  # JVM
    "G1 ",
    "C1 Compiler",
    "C2 Compiler",
    "VM Thread",
    "VM Periodic",
    "Signal Dispatch",
    "Finalizer",
    "Reference Handl",
    "jemalloc_bg_thd",
    "iou-wrk-",  # io_uring workers of the kernel, which refuse another affinity
    "iou-sqp-",
    "async_",
    "grpc",
    "libuv",
    "cuda-",
)


@dataclass(frozen=True, slots=True)
class Task:
    """One thread, as in /proc/PID/task/TID/stat."""

    tid: int
    pid: int
    name: str
    started: int
    """Clock ticks since boot, in every time namespace: with the tid, the order of creation."""
    cpu_ns: int
    faults: int
    """Page faults, with and without I/O."""
    cpu: OsIndex
    """CPU where the thread last ran."""
    runnable: bool = False
    """Whether the thread runs, or waits for nothing but a CPU."""

    @property
    def helper(self) -> bool:
        """Whether the thread's name marks it as a helper that does not compute."""
        return self.name.startswith(_HELPER_PREFIXES)


def parse_stat(text: str, pid: int) -> Task:
    """A task from a stat line. Its name may hold spaces and parentheses. Raises `ValueError`."""
    opening, closing = text.index("("), text.rindex(")")
    fields = text[closing + 2 :].split()
    return Task(
        tid=int(text[: opening - 1]),
        pid=pid,
        name=text[opening + 1 : closing],
        started=int(fields[19]) - shift_ticks(),
        cpu_ns=(int(fields[11]) + int(fields[12])) * _NS_PER_TICK,
        faults=int(fields[7]) + int(fields[9]),
        cpu=OsIndex(int(fields[36])),
        runnable=fields[0] == "R",
    )


def tasks_of(pid: int) -> list[Task]:
    """Threads of a process, in order of creation; empty when the process has ended."""
    found = []
    try:
        tids = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - pathlib costs the monitor memory
    except OSError:
        return []
    for tid in tids:
        text = read_text(f"/proc/{pid}/task/{tid}/stat")
        if text:
            try:
                found.append(parse_stat(text, pid))
            except (ValueError, IndexError):
                continue
    return sorted(found, key=lambda task: (task.started, task.tid))


def family_of(pid: int, without: frozenset[int] = frozenset()) -> list[int]:
    """A process and its descendants except those in `without`, parents first; at most 4096."""
    found: list[int] = []
    queue = [pid]
    while queue and len(found) < _LARGEST_FAMILY:
        current = queue.pop(0)
        found.append(current)
        try:
            tids = os.listdir(f"/proc/{current}/task")  # noqa: PTH208
        except OSError:
            continue
        for tid in tids:
            text = read_text(f"/proc/{current}/task/{tid}/children")
            queue.extend(int(child) for child in text.split() if int(child) not in without)
    return found


def program_of(pid: int) -> list[int]:
    """A watched process and its descendants, as `family_of`, without its monitor, which is among
    them where the program is PID 1 or a subreaper.
    """
    return family_of(pid, _silent_children(pid))


def _silent_children(pid: int) -> frozenset[int]:
    """Children whose ends give the process no signal, as that of a monitor's native half."""
    found = []
    for child in read_text(f"/proc/{pid}/task/{pid}/children").split():
        fields = read_text(f"/proc/{child}/stat").rpartition(")")[2].split()
        if len(fields) > _EXIT_SIGNAL and fields[_EXIT_SIGNAL] == "0":
            found.append(int(child))
    return frozenset(found)


def resident_bytes_of(pid: int) -> int:
    """Memory that a process holds, huge pages included; 0 when it has ended."""
    lines = read_text(f"/proc/{pid}/status").splitlines()
    held = (line.split()[1] for line in lines if line.startswith(("VmRSS:", "HugetlbPages:")))
    return 1024 * sum(map(int, held))


def switches_of(task: Task) -> tuple[int, int]:
    """Voluntary and involuntary context switches of a thread so far; zeros when it has ended."""
    text = read_text(f"/proc/{task.pid}/task/{task.tid}/status")
    # Lines of the architecture may follow (x86: two from Linux 6.6 on); gVisor has none of these.
    _, found, rest = text.rpartition("\nvoluntary_ctxt_switches:")
    words = rest.split(maxsplit=3)  # N nonvoluntary_ctxt_switches: M …
    return (int(words[0]), int(words[2])) if found and len(words) > 2 else (0, 0)


def times_of(task: Task) -> tuple[int, int]:
    """Nanoseconds that a thread was on a CPU so far, and that it could run but waited for one.

    The times are from `schedstat`, to the nanosecond; where the kernel has none, or keeps zeros
    there (without CONFIG_SCHEDSTATS, from Linux 5.14 on), the time from `stat`, and no wait.
    """
    words = read_text(f"/proc/{task.pid}/task/{task.tid}/schedstat").split()
    if len(words) < 2 or words[0] == "0":
        return task.cpu_ns, 0
    return int(words[0]), int(words[1])


def environment_of(pid: int, names: tuple[str, ...]) -> dict[str, str]:
    """The variables among `names` that the process started with."""
    found = {}
    for entry in read_text(f"/proc/{pid}/environ").split("\0"):
        name, _, value = entry.partition("=")
        if name in names:
            found[name] = value
    return found
