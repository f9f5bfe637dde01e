"""Kind of the file system that a file is on: SQLite's write-ahead log needs one that a single host
uses.
"""

from __future__ import annotations

import os
from pathlib import Path

# Types as /proc/self/mountinfo names them whose files several hosts may have open, and all of FUSE,
# where the kernel cannot say what is behind it. On them the log's index would be in the memory of
# one host (sqlite.org/wal.html, "Overview", disadvantages).
_SHARED = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "gfs2", "gpfs", "lustre", "nfs", "nfs4", "ocfs2",
    "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "virtiofs", "wekafs",
})  # fmt: skip


def may_be_shared(path: Path, mountinfo: Path = Path("/proc/self/mountinfo")) -> bool:
    """Whether other hosts may have this file open, too. A file on an unknown file system counts as
    local.
    """
    try:
        device = os.stat(path).st_dev  # noqa: PTH116 - as the kernel counts
        lines = mountinfo.read_text(errors="replace").splitlines()
    except OSError:
        return False
    wanted = f"{os.major(device)}:{os.minor(device)}"
    kinds = {_kind(line) for line in lines if line.split(" ", 3)[2:3] == [wanted]}
    return any(kind in _SHARED or kind.split(".")[0] == "fuse" for kind in kinds)


def _kind(line: str) -> str:
    """The type of a line's file system: the first word after the optional fields."""
    _, _, after = line.partition(" - ")
    return after.split(" ", 1)[0]
