"""JSON that a person can read: short values stand on one line, and items fill each line."""

from __future__ import annotations

import json
from collections.abc import Mapping

WIDTH = 100
"""Width of a line; a single number or text that is wider stays whole."""


def laid_out(value: object) -> str:
    """A document as text that ends in a newline. Raises `ValueError` for numbers that are not
    finite.
    """
    return _text(value, 0, 0) + "\n"


def _text(value: object, indent: int, before: int) -> str:
    """A value as text; `before` characters precede it on its line, and its further lines are
    indented.
    """
    flat = _flat(value)
    if before + len(flat) < WIDTH or not isinstance(value, Mapping | list):
        return flat
    inner = indent + 1
    if isinstance(value, Mapping):
        names = [f"{_flat(name)}: " for name in value]
        items = [
            name + _text(item, inner, inner + len(name))
            for name, item in zip(names, value.values(), strict=True)
        ]
        return _broken("{", items, "}", indent)
    items = [_text(item, inner, inner) for item in value]
    if any(isinstance(item, Mapping | list) for item in value):
        return _broken("[", items, "]", indent)
    return _broken("[", _filled(items, WIDTH - inner), "]", indent)


def _flat(value: object) -> str:
    """A value on one line, without any character that a terminal would obey."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text).replace(
        "\x7f", r"\u007f"
    )


def _filled(items: list[str], width: int) -> list[str]:
    """Items in lines; each line has as many as fit with a comma after them."""
    lines = items[:1]
    for item in items[1:]:
        if len(lines[-1]) + len(", ") + len(item) < width:
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return lines


def _broken(opening: str, lines: list[str], closing: str, indent: int) -> str:
    margin = "\n" + " " * indent
    return f"{opening}{margin} " + f",{margin} ".join(lines) + margin + closing
