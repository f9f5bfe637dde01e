"""Arguments of several functions: names, numbers and paths, of which one may stand for several."""

from __future__ import annotations

import errno
import operator
from collections.abc import Iterable
from pathlib import Path

from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex


def names_of(names: Iterable[str] | str, what: str) -> tuple[str, ...]:
    """Several names; a text is one. `what` is the argument's name. Raises `UsageError`."""
    if isinstance(names, str):
        return (names,)
    several = tuple(names) if isinstance(names, Iterable) else (names,)
    for name in several:
        if not isinstance(name, str):
            raise UsageError(f"{what} has {name!r:.60}; expected a name, or several names")
    return several


def counts_of(counts: Iterable[int] | int, what: str) -> tuple[int, ...]:
    """Several whole numbers from 1; a number is one. Raises `UsageError`."""
    if isinstance(counts, Iterable) and not isinstance(counts, str | bytes):
        return tuple(count_of(each, what) for each in counts)
    return (count_of(counts, what),)


def count_of(count: object, what: str) -> int:
    """A whole number from 1, of Python or numpy. Raises `UsageError`."""
    try:
        number = operator.index(count)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1 or isinstance(count, bool):
        raise UsageError(f"{what} {count!r:.60}; expected a whole number, at least 1")
    return number


def cpu_numbers_of(cpus: Iterable[int], what: str) -> tuple[OsIndex, ...]:
    """The kernel's numbers of CPUs. Raises `UsageError`."""
    try:
        numbers = tuple(map(operator.index, cpus))
    except TypeError:
        raise UsageError(
            f"{what} is {cpus!r:.60}; expected the kernel's numbers of CPUs, such as [0, 1]"
        ) from None
    return tuple(map(OsIndex, numbers))


def path_of(path: Path | str, what: str) -> Path:
    """The path. Raises `UsageError`, also for text that no file can be called."""
    return Path(text_of_path(path, what))


def path_if_any(path: Path | str | None, what: str) -> Path | None:
    """The path, where one is given. Raises `UsageError`."""
    return None if path is None else path_of(path, what)


def text_of_path(path: Path | str, what: str) -> str:
    """A path, or a name in place of one, as text. Raises `UsageError`, also for text that no file
    can be called.
    """
    if not isinstance(path, Path | str):
        raise UsageError(f"{what} is a {type(path).__name__}; expected a path")
    try:
        Path(path).stat()
    except ValueError:
        raise UsageError(f"{what} is {str(path)!r:.60}; expected a path without NUL") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{what} is {str(path)!r:.60}…, too long for a path") from None
    return str(path)
