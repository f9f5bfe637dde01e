"""The part of a cluster's pool that runs on its workers.

The arguments are plain until the versions are compared: objects of another version may not be
readable at all.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autofinity.model.errors import AutofinityError, ClusterError
from autofinity.pool.carry_out import carry_out
from autofinity.pool.identity import difference, identity
from autofinity.pool.packed_trace import holds, unpack
from autofinity.ports import Done

if TYPE_CHECKING:
    from distributed import Worker

_FOLDER = "autofinity-traces"
"""In the worker's own folder, which Dask removes when the worker ends."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A worker that does not see traces of a task."""

    worker: str
    """Address of the worker."""
    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A task that raised one of our errors."""

    error: AutofinityError


def serve(
    ours: Mapping[str, str], context: bytes, task: bytes, traces: Sequence[tuple[str, str]]
) -> Done[Any] | Lacking | Failed:
    """Do a task on a worker.

    `ours`: the `identity` of who asks; `context`, `task`: pickled; `traces`: (folder, digest of the
    events) of each.
    """
    from distributed import get_worker

    worker = get_worker()
    other = difference(ours, identity())
    if other:
        return Failed(
            ClusterError(
                f"the worker {worker.address} is of another installation: {other}; its results "
                "might differ. Install the same on all machines (one wheel), and start the workers "
                "again"
            )
        )
    kept = _kept(worker)
    folders = {path: _seen(path, digest, kept) for path, digest in traces}
    lacking = tuple(digest for path, digest in traces if not folders[path])
    if lacking:
        return Lacking(worker.address, lacking)
    try:
        return carry_out(_unpickled(context), pickle.loads(task), folders)
    except AutofinityError as error:
        return Failed(error)


async def keep_trace(digest: str, packed: bytes, dask_worker: Worker) -> None:
    """Keep a trace on a worker until it ends (`dask_worker` is given by Dask)."""
    await asyncio.to_thread(unpack, packed, _kept(dask_worker) / digest)


@lru_cache(maxsize=4)
def _unpickled(context: bytes) -> Any:
    """The context of several tasks: with it a machine keeps the trace that it has read."""
    return pickle.loads(context)


def _kept(worker: Worker) -> Path:
    return Path(worker.local_directory) / _FOLDER


def _seen(path: str, digest: str, kept: Path) -> str:
    """Folder of the trace here: the same path on a shared file system, else what was sent; empty
    where there is neither.
    """
    for folder in (Path(path), kept / digest):
        if holds(folder, digest):
            return str(folder)
    return ""
