"""The place where runs are made, as `--on` names it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.pool.cluster import ClusterPool

_SCHEMES = {"dask": "tcp", "tcp": "tcp", "tls": "tls"}
_PATIENCE_S = 60.0
"""Time that a scheduler may be without a worker."""


def pool_on(place: str) -> AbstractContextManager[ClusterPool]:
    """The pool at `dask://HOST:PORT` or `tls://HOST:PORT`, a Dask scheduler.

    Raises `UsageError` for another place, and without the package `distributed`; `ClusterError`
    where no scheduler answers.
    """
    scheme, _, address = place.partition("://")
    if scheme not in _SCHEMES or not address.rpartition(":")[2].isdecimal():
        raise UsageError(
            f"--on {place}: expected dask://HOST:PORT or tls://HOST:PORT, the address of a Dask "
            "scheduler"
        )
    try:
        from autofinity.pool.cluster import ClusterPool, connected
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--on {place}: the package {error.name} is missing; install autofinity[cluster]"
        ) from None
    address = f"{_SCHEMES[scheme]}://{address}"
    return ClusterPool(connected(address), place, address, _PATIENCE_S)
