"""Values of a row of the behaviour database, one after the other, each checked for its kind.

A table's own checks cover storage classes only: not the size of a number, nor the content of a
text. The checks here are written by hand: the run-time monitor reads rows and must not load a
validator.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Never, TypeGuard

from autofinity.model.affinity import Affinity, Hint

LARGEST = (1 << 63) - 1
"""Largest whole number that SQLite stores."""
_MOST_DIGITS = 18
_MOST_PID = (1 << 31) - 1
_MOST_THREADS = 1 << 20
_LAST_TIME_S = 253_402_300_799  # the year 9999, as far as calendars here go


class DamagedRowError(ValueError):
    """A row has an impossible value: the message names the row, what was got and what was
    expected.
    """


class Values:
    """Values of a row, to be taken in order; each `name` is for messages."""

    def __init__(self, row_name: str, row: tuple[object, ...]) -> None:
        self._row_name = row_name
        self._values = iter(row)

    def whole(self, name: str, most: int = LARGEST) -> int:
        """A whole number from 0 to `most`."""
        value = next(self._values)
        if type(value) is not int or not 0 <= value <= most:
            self._wrong(name, value, f"a whole number from 0 to {most}")
        return value

    def pid(self, name: str) -> int:
        """Number of a process or thread, within the kernel's range."""
        return self.whole(name, _MOST_PID)

    def threads(self, name: str) -> int:
        """A number of threads."""
        return self.whole(name, _MOST_THREADS)

    def time(self, name: str) -> float:
        """Seconds since the epoch."""
        value = next(self._values)
        if type(value) not in (int, float) or not 0 <= value <= _LAST_TIME_S:  # type: ignore[operator]
            self._wrong(name, value, "seconds since 1970")
        return float(value)  # type: ignore[arg-type]

    def text(self, name: str) -> str:
        """Any text."""
        value = next(self._values)
        if not isinstance(value, str):
            self._wrong(name, value, "a text")
        return value

    def number(self, name: str) -> int:
        """Number of a row: SQLite continues from the largest one, which may be below 0."""
        value = next(self._values)
        if type(value) is not int:
            self._wrong(name, value, "a whole number")
        return value

    def digits(self, name: str) -> int:
        """A whole number from 0 on, stored as a text."""
        value = self.text(name)
        if not (value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS):
            self._wrong(name, value, f"at most {_MOST_DIGITS} digits")
        return int(value)

    def path(self, name: str) -> str:
        """Bytes that name a file, in the encoding of file names."""
        value = next(self._values)
        if not isinstance(value, bytes) or b"\0" in value:
            self._wrong(name, value, "a path")
        return os.fsdecode(value)

    def hint(self, name: str) -> Hint:
        """One of the eight hints."""
        value = self.text(name)
        try:
            return Hint.from_letters(value)
        except ValueError:
            self._wrong(name, value, "a hint such as SLP")

    def affinity(self, name: str) -> Affinity:
        """An affinity of at least one thread."""
        value = self.text(name)
        try:
            affinity = Affinity.parse(value)
        except ValueError:
            self._wrong(name, value, "an affinity such as {6,2}{1}")
        if not all(count > 0 for socket in affinity.occupancy for count in socket):
            self._wrong(name, value, "an affinity of counts above 0")
        return affinity

    def counts(self, name: str) -> dict[str, float]:
        """Numbers by name, from JSON."""
        found = self._object(name)
        try:
            return {key: float(count) for key, count in found.items()}
        except OverflowError:
            self._wrong(name, found, "numbers below 1e308")

    def whole_counts(self, name: str) -> dict[str, int]:
        """Whole numbers by name, from JSON."""
        found = self._object(name)
        whole = {key: count for key, count in found.items() if isinstance(count, int)}
        if len(whole) < len(found):
            self._wrong(name, found, "JSON: an object of whole numbers")
        return whole

    def counts_by_number(self, name: str) -> dict[int, dict[str, float]]:
        """Numbers by name, for each of some whole numbers, from JSON."""
        value = self.text(name)
        found = _json(value)
        if not isinstance(found, dict) or not all(
            key.isascii() and key.isdigit() and len(key) <= _MOST_DIGITS and _is_of_numbers(inner)
            for key, inner in found.items()
        ):
            self._wrong(name, value, "JSON: objects of numbers by number")
        try:
            return {
                int(key): {inside: float(count) for inside, count in inner.items()}
                for key, inner in found.items()
            }
        except OverflowError:
            self._wrong(name, value, "numbers below 1e308")

    def or_none[T](self, take: Callable[[str], T], name: str) -> T | None:
        """None for an absent value, else the value that `take` (a method of this object)
        returns.
        """
        value = next(self._values)
        if value is None:
            return None
        rest = self._values
        self._values = iter((value,))
        try:
            return take(name)
        finally:
            self._values = rest

    def _object(self, name: str) -> dict[str, int | float]:
        value = self.text(name)
        found = _json(value)
        if not _is_of_numbers(found):
            self._wrong(name, value, "JSON: an object of numbers")
        return found

    def _wrong(self, name: str, value: object, expected: str) -> Never:
        text = ascii(value)
        got = text if len(text) <= 60 else text[:57] + "..."
        raise DamagedRowError(f"{self._row_name}: {name}: got {got}, expected {expected}")


def _json(text: str) -> object:
    """The value of a text; None for a text that is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_of_numbers(value: object) -> TypeGuard[dict[str, int | float]]:
    return isinstance(value, dict) and all(type(each) in (int, float) for each in value.values())
