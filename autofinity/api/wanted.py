"""Which programs are to run where: arguments of several functions, as `workflow` takes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.arguments import count_of, counts_of, names_of, path_if_any
from autofinity.api.machines import Machine, name_of
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.workflow.wanted import Wanted


def wanted_by_arguments(
    machine: Machine | str,
    *,
    programs: Sequence[str] | str,
    sizes: Sequence[str] | str,
    threads: Sequence[int] | int,
    suite: Path | str | None,
    work: Path | str | None,
    jobs: int | None,
    on: str,
) -> Wanted:
    """Programs in sizes and thread counts on a machine; runs are made one at a time, unless `jobs`
    or `on` say otherwise. Raises `AutofinityError`.
    """
    from autofinity.workflow.wanted import wanted_on

    if jobs is None and not on:
        jobs = 1
    if not isinstance(on, str):
        raise UsageError(f"on is {on!r:.60}; expected dask://HOST:PORT, tls://HOST:PORT or slurm")
    return wanted_on(
        name_of(machine),
        programs=names_of(programs, "programs"),
        sizes=names_of(sizes, "sizes"),
        threads=counts_of(threads, "threads"),
        jobs=None if jobs is None else count_of(jobs, "jobs"),
        suite=path_if_any(suite, "suite"),
        work=path_if_any(work, "work"),
        on=on,
    )
