"""A policy's JSON, checked field by field; every message names the file and the field."""

from __future__ import annotations

import json
import math
from typing import Never

from autofinity.model.errors import PolicyError


class FieldReader:
    """Takes values of known kinds from a document; its errors name what was got and expected."""

    def __init__(self, name: str) -> None:
        self.name = name

    def wrong(self, field: str, problem: str) -> Never:
        """Raise `PolicyError`, with the remedy."""
        raise PolicyError(
            f"{self.name}: {field}: {problem}. Learn the policy again with `autofinity train`, "
            "or repair the file (schema: policies/schema/policy.schema.json)"
        )

    def document(self, data: bytes) -> object:
        """The JSON in `data`. NaN, ∞ and fields named twice are errors."""
        try:
            document = json.loads(
                data.decode("utf-8"),
                parse_constant=self._constant,
                parse_float=self._finite,
                object_pairs_hook=self._unique,
            )
            self._unpaired(document)
        except ValueError as error:
            self.wrong("content", f"no JSON ({error})")
        except RecursionError:
            self.wrong("content", "lists and objects are nested too deeply")
        return document

    def an_object(
        self, value: object, field: str, allowed: tuple[str, ...] | None
    ) -> dict[str, object]:
        """A JSON object; with `allowed`, with exactly these fields."""
        if not isinstance(value, dict):
            self.wrong(field, f"got {shown(value)}, expected an object")
        if allowed is not None:
            for name in allowed:
                if name not in value:
                    self.wrong(field, f"lacks {name!r}")
            for name in value:
                if name not in allowed:
                    self.wrong(field, f"unknown field {shown(name)}")
        return value

    def a_list(self, value: object, field: str) -> list[object]:
        """A list of any values."""
        if not isinstance(value, list):
            self.wrong(field, f"got {shown(value)}, expected a list")
        return value

    def a_text(self, value: object, field: str) -> str:
        """A text that is not empty and has no NUL, at which C and SQL would end it."""
        if not isinstance(value, str) or not value or "\0" in value:
            self.wrong(field, f"got {shown(value)}, expected a text that is not empty, without NUL")
        return value

    def a_number(self, value: object, field: str) -> float:
        """A finite number that is not a truth value."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(field, f"got {shown(value)}, expected a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.wrong(field, f"got {shown(value)}, expected a finite number")
        return number

    def _constant(self, text: str) -> Never:
        self.wrong("content", f"{text} is not allowed; open ends are null")

    def _finite(self, text: str) -> float:
        number = float(text)
        if math.isinf(number):
            self.wrong("content", f"{shown(text)} is too large a number; open ends are null")
        return number

    def _unpaired(self, value: object) -> None:
        """Refuse half a surrogate pair: JSON can express it, but it is no character and no file can
        hold it.
        """
        if isinstance(value, str):
            if any("\ud800" <= char <= "\udfff" for char in value):
                self.wrong("content", f"{shown(value)} has half a surrogate pair, no character")
        elif isinstance(value, list | dict):
            for part in value:
                self._unpaired(part)
            for part in value.values() if isinstance(value, dict) else ():
                self._unpaired(part)

    def _unique(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            self.wrong(twice, "named twice in one object")
        return found


def shown(value: object) -> str:
    """A value for a message, shortened to at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
