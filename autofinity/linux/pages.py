"""Finds and moves pages: move_pages(2) in batches.

Failures are counted, and a page that is not there raises no error. A program waits for its pages
while they are moved, so after each batch it is left alone for as long as the batch took.
"""

from __future__ import annotations

import ctypes
import errno
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from autofinity.free_memory import has_room
from autofinity.linux.kernel_file import read_text
from autofinity.linux.syscalls import syscall
from autofinity.model.cpu_lists import parse_cpu_list
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import OsIndex

_MOVE = 1 << 1  # MPOL_MF_MOVE: pages this process alone maps
_NO_ROOM = -1


@dataclass(frozen=True, slots=True)
class Moved:
    """Result of a batch: the number of pages on the wished node, and why the others are not
    there.
    """

    done: int
    failed: dict[str, int]
    """Name of errno → number of pages (ENOENT: not touched yet; EFAULT: zero page or unmapped;
    EBUSY, …)."""


def nodes_of(pid: int, addresses: Sequence[int], batch: int = 1024) -> list[int]:
    """Node of each page, or minus errno where it has none. Raises `CapabilityError`."""
    found: list[int] = []
    for start in range(0, len(addresses), batch):
        found.extend(_call(pid, addresses[start : start + batch], None)[0])
    return found


def move(pid: int, addresses: Sequence[int], nodes: Sequence[OsIndex], batch: int = 1024) -> Moved:
    """Move each page to its node, as far as the process may use it. Raises `CapabilityError`.

    Pages that a process leaves behind by its end are neither moved nor failures.
    Nodes outside the process's `Mems_allowed` are not tried: they are counted as EACCES. Nor are
    nodes that are nearly full: to make room the kernel would swap, the program's own pages too.
    """
    allowed = mems_allowed(pid)
    if allowed is not None and not allowed:
        return Moved(0, {})
    failed: Counter[str] = Counter()
    done = 0
    pairs = []
    for address, node in zip(addresses, nodes, strict=True):
        if allowed is None or node in allowed:
            pairs.append((address, node))
        else:
            failed["EACCES"] += 1
    took_s = 0.0
    for start in range(0, len(pairs), batch):
        time.sleep(took_s)
        before = time.monotonic()
        part = pairs[start : start + batch]
        full = {node for node in {node for _, node in part} if not has_room(node)}
        if full:
            failed["ENOMEM"] += sum(node in full for _, node in part)
            part = [pair for pair in part if pair[1] not in full]
            if not part:
                continue
        try:
            states = _moved(pid, [address for address, _ in part], [node for _, node in part])
        except CapabilityError as error:
            if _has_ended(pid, error):
                break
            raise
        for (_, node), state in zip(part, states, strict=True):
            if state == node:
                done += 1
            else:
                failed[errno.errorcode.get(-state, str(state))] += 1
        took_s = time.monotonic() - before
    return Moved(done, dict(failed))


def mems_allowed(pid: int) -> frozenset[OsIndex] | None:
    """Nodes that the process may have memory on; none when it has ended. None: any node, on a
    kernel without cpusets (CONFIG_CPUSETS).
    """
    lines = read_text(f"/proc/{pid}/status").splitlines()
    for line in lines:
        name, _, value = line.partition(":")
        if name == "Mems_allowed_list":
            return parse_cpu_list(value)
    return None if lines else frozenset()


def _has_ended(pid: int, error: CapabilityError) -> bool:
    """Whether pages stayed since their process has ended. The kernel answers EINVAL where nobody
    has waited for it yet: it has no memory.
    """
    code = getattr(error.__cause__, "errno", 0)
    if code != errno.EINVAL:
        return bool(code == errno.ESRCH)
    return read_text(f"/proc/{pid}/statm").split()[:1] in ([], ["0"])


def _moved(pid: int, addresses: Sequence[int], nodes: Sequence[int]) -> list[int]:
    """Node of each page after an attempt to move it; minus errno for a page that is elsewhere.

    From Linux 4.17 on the kernel moves runs of pages, and stops after the first run in which a page
    cannot be moved, as one that is pinned for a device: it says nothing of this run, and does not
    try the pages after it. Then the pages of each node are tried once more, as one run.
    """
    states, left = _call(pid, addresses, nodes)
    if not left:
        return states
    states = nodes_of(pid, addresses)
    for node in dict.fromkeys(nodes) if left != _NO_ROOM else ():
        rest = [
            address
            for address, wished, state in zip(addresses, nodes, states, strict=True)
            if wished == node and 0 <= state != node
        ]
        if rest:
            _call(pid, rest, [node] * len(rest))
    why = errno.ENOMEM if left == _NO_ROOM else errno.EBUSY
    return [
        -why if 0 <= state != node else state
        for node, state in zip(nodes, nodes_of(pid, addresses), strict=True)
    ]


def _call(pid: int, addresses: Sequence[int], nodes: Sequence[int] | None) -> tuple[list[int], int]:
    """Status of each page, and how many the kernel could not move or did not try; where a node is
    full, `_NO_ROOM`.
    """
    left = 0
    count = len(addresses)
    pages = (ctypes.c_void_p * count)(*addresses)
    status = (ctypes.c_int * count)(*([-errno.ENOENT] * count))
    wished = (ctypes.c_int * count)(*nodes) if nodes is not None else ctypes.c_void_p(None)
    try:
        flags = _MOVE if nodes is not None else 0
        left = syscall("move_pages", pid, count, pages, wished, status, flags)
    except OSError as error:
        # The kernel answers ENOENT when no page could be moved; the status of each has the reason.
        if error.errno == errno.ENOMEM:
            left = _NO_ROOM
        elif error.errno not in (errno.ENOENT, errno.EBUSY):
            name = errno.errorcode.get(error.errno or 0, "?")
            raise CapabilityError(
                f"pages of process {pid} cannot be queried or moved: {name}; it needs the same "
                "user, or CAP_SYS_NICE, and a kernel with NUMA (CONFIG_NUMA)"
            ) from error
    return list(status), left
