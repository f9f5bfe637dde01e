"""The place where runs are made, as `--on` names it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.pool.cluster import ClusterPool

_SCHEMES = {"dask": "tcp", "tcp": "tcp", "tls": "tls"}
_PATIENCE_S = 60.0
"""Time that a scheduler may be without a worker."""


def pool_on(
    place: str, cores: int | None, folder: Path, notice: Callable[[str], None]
) -> AbstractContextManager[ClusterPool]:
    """The pool at `dask://HOST:PORT` or `tls://HOST:PORT`, a Dask scheduler, or in jobs of `slurm`.

    For the other arguments, which only jobs need, see `SlurmPool`. Raises `UsageError` for another
    place, without the packages, for what `SlurmPool` refuses, and for `cores` on a scheduler whose
    workers decide; `ClusterError` where no scheduler answers.
    """
    scheme, _, address = place.partition("://")
    in_jobs = place == "slurm"
    if not in_jobs and (scheme not in _SCHEMES or not _is_address(place)):
        raise UsageError(
            f"--on {place}: expected dask://HOST:PORT or tls://HOST:PORT, the address of a Dask "
            "scheduler with a port from 1 to 65535, or slurm"
        )
    try:
        from autofinity.pool.cluster import ClusterPool, connected

        if in_jobs:
            from autofinity.pool.slurm import SlurmPool

            return SlurmPool(cores, folder, notice)
    except ImportError as error:
        raise UsageError(f"--on {place}: {error}; install autofinity[cluster]") from None
    if cores is not None:
        raise UsageError(
            f"--jobs {cores}: the workers of {place} make as many runs at a time as they have "
            "threads; expected --jobs without --on, or with --on slurm"
        )
    address = f"{_SCHEMES[scheme]}://{address}"
    return ClusterPool(connected(address), place, address, _PATIENCE_S)


def _is_address(url: str) -> bool:
    """Whether a URL has a host, a port that a server may have, and nothing else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    plain = not (parts.path or parts.query or parts.fragment or parts.username)
    return bool(parts.hostname) and bool(port) and plain
