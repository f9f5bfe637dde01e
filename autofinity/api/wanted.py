"""Which programs are to run where: arguments of several functions, as `workflow` takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.api.machines import Machine, name_of

if TYPE_CHECKING:
    from autofinity.workflow.wanted import Wanted


def wanted_of(
    machine: Machine | str,
    *,
    programs: Sequence[str] | str,
    sizes: Sequence[str] | str,
    threads: Sequence[int] | int,
    suite: Path | str | None,
    work: Path | str | None,
    jobs: int,
) -> Wanted:
    """Programs in sizes and thread counts on a machine. Raises `AutofinityError`."""
    from autofinity.workflow.wanted import wanted_on

    return wanted_on(
        name_of(machine),
        programs=names_of(programs),
        sizes=names_of(sizes),
        threads=counts_of(threads),
        jobs=jobs,
        suite=path_of(suite),
        work=path_of(work),
    )


def names_of(names: Sequence[str] | str) -> tuple[str, ...]:
    """Several names; a text is one."""
    return (names,) if isinstance(names, str) else tuple(names)


def counts_of(threads: Sequence[int] | int) -> tuple[int, ...]:
    """Several thread counts; a number is one."""
    return tuple(threads) if isinstance(threads, Iterable) else (threads,)


def path_of(path: Path | str | None) -> Path | None:
    """The path, where one is given."""
    return None if path is None else Path(path)
