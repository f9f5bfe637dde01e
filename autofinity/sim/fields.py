"""Reading a table of a preset file: every error names file, key, what was got and expected."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from pathlib import Path

from autofinity.model.errors import TopologyError


class Fields:
    """One TOML table. Values are taken out one by one; `end` complains of what nobody took."""

    def __init__(self, path: Path, name: str, table: object) -> None:
        self.path = path
        self.name = name
        if not isinstance(table, dict):
            raise self.error("", f"expected a table, got {table!r}")
        self._rest: dict[str, object] = dict(table)
        self._taken: list[str] = []

    def error(self, key: str, what: str) -> TopologyError:
        """An error about `key`, ready to raise."""
        place = ".".join(part for part in (self.name, key) if part)
        return TopologyError(f"{self.path}: {place}: {what}" if place else f"{self.path}: {what}")

    def _take(self, key: str, expected: str, default: object = None) -> object:
        self._taken.append(key)
        if key not in self._rest:
            if default is not None:
                return default
            raise self.error(key, f"missing; expected {expected}")
        return self._rest.pop(key)

    def table(self, key: str) -> Fields:
        """A table inside this one."""
        return self._inner(key, self._take(key, "a table"))

    def optional[T](self, key: str, read: Callable[[Fields], T]) -> T | None:
        """What `read` makes of a table inside this one, None when it is not there."""
        return read(self.table(key)) if self.has(key) else None

    def tables(self, key: str) -> tuple[Fields, ...]:
        """The tables of an array `[[key]]`, which has at least one."""
        value = self._take(key, f"tables [[{key}]]")
        if not isinstance(value, list) or not value:
            raise self.error(key, f"got {value!r}, expected tables [[{key}]]")
        return tuple(self._inner(f"{key}[{i}]", item) for i, item in enumerate(value))

    def text(self, key: str, choices: tuple[str, ...] = (), default: str | None = None) -> str:
        """A string, one of `choices` if there are any."""
        expected = "one of " + ", ".join(choices) if choices else "text"
        value = self._take(key, expected, default)
        if not isinstance(value, str) or (choices and value not in choices):
            raise self.error(key, f"got {value!r}, expected {expected}")
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._take(key, "true or false", default)
        if not isinstance(value, bool):
            raise self.error(key, f"got {value!r}, expected true or false")
        return value

    def number(
        self, key: str, low: float = 0.0, high: float = 1e12, default: float | None = None
    ) -> float:
        """A finite number in [low, high]."""
        value = self._take(key, f"a number from {low:g} to {high:g}", default)
        return self._number(key, value, low, high)

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number in [low, high]."""
        value = self._take(key, f"a whole number from {low} to {high}", default)
        return self._whole(key, value, low, high)

    def by_distance(self, key: str) -> tuple[float, ...]:
        """Three to six numbers, one a distance class."""
        expected = "3 to 6 numbers: same LLC or node, same package, one hop, two hops, …"
        value = self._take(key, expected)
        if not isinstance(value, list) or not 3 <= len(value) <= 6:
            raise self.error(key, f"got {value!r}, expected {expected}")
        return tuple(self._number(key, item, 0.0, 1e9) for item in value)

    def wholes(self, key: str, low: int, high: int) -> tuple[int, ...]:
        """A list of whole numbers in [low, high]; empty when it is not there."""
        value = self._take(key, "a list of whole numbers", [])
        if not isinstance(value, list):
            raise self.error(key, f"got {value!r}, expected a list of whole numbers")
        return tuple(self._whole(key, item, low, high) for item in value)

    def each(self, key: str, count: int, low: float, high: float) -> tuple[float, ...]:
        """`count` numbers in [low, high]; one number stands for all."""
        expected = f"a number from {low:g} to {high:g}, or a list of {count}"
        value = self._take(key, expected)
        if not isinstance(value, list):
            return (self._number(key, value, low, high),) * count
        if len(value) != count:
            raise self.error(key, f"got a list of {len(value)}, expected {expected}")
        return tuple(self._number(key, item, low, high) for item in value)

    def rows(self, key: str, columns: int, whole: int) -> tuple[tuple[float, ...], ...]:
        """A list of rows of `columns` numbers, the first `whole` of them whole; none negative."""
        expected = f"rows of {columns} numbers, the first {whole} whole"
        value = self._take(key, expected)
        if not isinstance(value, list) or not value:
            raise self.error(key, f"got {value!r}, expected {expected}")
        for row in value:
            if not isinstance(row, list) or len(row) != columns:
                raise self.error(key, f"got the row {row!r}, expected {expected}")
            for cell in row[:whole]:
                self._whole(key, cell, 0, 1 << 31)
        return tuple(tuple(self._number(key, cell, 0, 1e12) for cell in row) for row in value)

    def length(self, key: str) -> int:
        """Of a list that is there; 0 for anything else."""
        value = self._rest.get(key)
        return len(value) if isinstance(value, list) else 0

    def has(self, key: str) -> bool:
        """Whether the key is there (and not taken yet)."""
        self._taken.append(key)
        return key in self._rest

    def square(self, key: str, size: int) -> tuple[tuple[int, ...], ...]:
        """A square matrix of whole numbers from 1 to 255."""
        expected = f"{size} rows of {size} whole numbers from 1 to 255"
        value = self._take(key, expected)
        good = (
            isinstance(value, list)
            and len(value) == size
            and all(isinstance(row, list) and len(row) == size for row in value)
            and all(type(cell) is int and 0 < cell < 256 for row in value for cell in row)
        )
        if not good:
            raise self.error(key, f"expected {expected}")
        assert isinstance(value, list)
        return tuple(tuple(row) for row in value)

    def clocks_or_ns(self, key: str) -> float:
        """A latency `{ clocks = n, clocks_at_ghz = f }` in nanoseconds."""
        inner = self.table(key)
        ns = inner.number("clocks") / inner.number("clocks_at_ghz", 0.01, 100)
        inner.end()
        return ns

    def end(self) -> None:
        """Raises when there are keys that nobody asked for."""
        for key in self._rest:
            near = difflib.get_close_matches(key, self._taken, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise self.error(key, f"unknown key{hint}")

    def _inner(self, key: str, value: object) -> Fields:
        return Fields(self.path, ".".join(part for part in (self.name, key) if part), value)

    def _whole(self, key: str, value: object, low: int, high: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(key, f"got {value!r}, expected a whole number from {low} to {high}")
        return value

    def _number(self, key: str, value: object, low: float, high: float) -> float:
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or not math.isfinite(value)
            or not low <= value <= high
        ):
            raise self.error(key, f"got {value!r}, expected a number from {low:g} to {high:g}")
        return float(value)
