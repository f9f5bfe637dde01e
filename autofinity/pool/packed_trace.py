"""A trace as one string of bytes, to send it to a machine that does not see its folder."""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
from pathlib import Path

from autofinity.model.errors import ClusterError, TraceError
from autofinity.trace.meta import read_meta

_MOST_BYTES = 1 << 31
"""Size of a message that Dask's protocol refuses."""


def holds(folder: Path, digest: str) -> bool:
    """Whether a complete trace with these events is in the folder."""
    try:
        return read_meta(folder).digest == digest
    except TraceError:
        return False


def pack(folder: Path) -> bytes:
    """All files of a trace's folder. Raises `ClusterError` for more than a message can hold."""
    size_bytes = sum(path.stat().st_size for path in folder.iterdir())
    if size_bytes >= _MOST_BYTES:
        raise ClusterError(
            f"{folder} has {size_bytes / 2**30:.1f} GiB, and up to 2 GiB can be sent to a worker; "
            "name a work folder that all workers see by the same path (--work)"
        )
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return packed.getvalue()


def unpack(packed: bytes, folder: Path) -> None:
    """Make the folder from `pack`'s bytes; it appears whole or not at all.

    A folder that is there already is kept. Raises `OSError`.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(made, filter="data")
        made.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
