"""Reading a table of a preset file: every error names file, key, what was got and expected."""

from __future__ import annotations

import difflib
import math
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
        return Fields(self.path, key, self._take(key, "a table"))

    def optional_table(self, key: str) -> Fields | None:
        """A table inside this one, None when it is not there."""
        self._taken.append(key)
        return Fields(self.path, key, self._rest.pop(key)) if key in self._rest else None

    def text(self, key: str, choices: tuple[str, ...] = (), default: str | None = None) -> str:
        """A string, one of `choices` if there are any."""
        expected = "one of " + ", ".join(choices) if choices else "text"
        value = self._take(key, expected, default)
        if not isinstance(value, str) or (choices and value not in choices):
            raise self.error(key, f"got {value!r}, expected {expected}")
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self._take(key, "true or false")
        if not isinstance(value, bool):
            raise self.error(key, f"got {value!r}, expected true or false")
        return value

    def number(self, key: str, low: float = 0.0, high: float = 1e12) -> float:
        """A finite number in [low, high]."""
        value = self._take(key, f"a number from {low:g} to {high:g}")
        return self._number(key, value, low, high)

    def whole(self, key: str, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        value = self._take(key, f"a whole number from {low} to {high}")
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(key, f"got {value!r}, expected a whole number from {low} to {high}")
        return value

    def four(self, key: str) -> tuple[float, float, float, float]:
        """Four numbers, one a distance."""
        expected = "four numbers: same LLC or node, same package, one hop, two hops"
        value = self._take(key, expected)
        if not isinstance(value, list) or len(value) != 4:
            raise self.error(key, f"got {value!r}, expected {expected}")
        a, b, c, d = (self._number(key, item, 0.0, 1e9) for item in value)
        return (a, b, c, d)

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

    def _number(self, key: str, value: object, low: float, high: float) -> float:
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or not math.isfinite(value)
            or not low <= value <= high
        ):
            raise self.error(key, f"got {value!r}, expected a number from {low:g} to {high:g}")
        return float(value)
