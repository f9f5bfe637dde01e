"""Documents with a few values of the wrong kind or size, and files of them."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from hostile_text import texts
from hypothesis import strategies as st

type Path = tuple[int | str, ...]

NUMBERS = (
    *(-1, 0, 1, 3, 1 << 31, 1 << 63, (1 << 64) + 1, -(10**25), 10**400),
    *(0.5, -0.0, 5e-324, 1e-300, 1e-9, 1e16, 1e150, 1.7e308, math.inf, -math.inf, math.nan),
)
ANYTHING: st.SearchStrategy[Any] = st.one_of(
    *[st.sampled_from(NUMBERS)] * 4,
    st.integers(),
    st.floats(),
    st.booleans(),
    texts(0, any_code=True),
    st.sampled_from(([], {}, [[]], [{}], [0, 0], [1e-300, 1e300], [[0, 1, 1e-300]], {"a": 1})),
)


@st.composite
def damaged(draw: st.DrawFn, document: Any, *, nothing: bool = True) -> Any:
    """The document with one to three changes; with `nothing` also with nulls in it."""
    made = copy.deepcopy(document)
    value = (ANYTHING | st.none() if nothing else ANYTHING).map(copy.deepcopy)
    for _ in range(draw(st.integers(1, 3))):
        known = [path for path in paths(made) if path]
        if not known:
            return draw(value)
        *way, last = draw(st.sampled_from(known))
        where = made
        for step in way:
            where = where[step]
        change = draw(st.integers(0, 9))
        if change < 7:
            where[last] = draw(value)
        elif change < 8:
            del where[last]
        elif isinstance(where, dict):
            where[draw(texts(0, any_code=True))] = draw(value)
        else:
            where.insert(last, draw(value))
    return made


def paths(value: Any, way: Path = ()) -> Iterator[Path]:
    """Paths of all values; for long lists only those of the first elements."""
    yield way
    if isinstance(value, dict):
        for key, part in value.items():
            yield from paths(part, (*way, key))
    elif isinstance(value, list):
        for index, part in enumerate(value[:8]):
            yield from paths(part, (*way, index))


def each_number(document: Any, numbers: Sequence[Any]) -> Iterator[Any]:
    """The document with one of its numbers replaced, by each of `numbers` in turn."""
    for *way, last in list(paths(document))[1:]:
        made = copy.deepcopy(document)
        where = made
        for step in way:
            where = where[step]
        if isinstance(where[last], int | float) and not isinstance(where[last], bool):
            for number in numbers:
                where[last] = number
                yield made


def toml_of(document: dict[str, Any]) -> bytes:
    """The document as TOML, each table on one line. Texts that TOML cannot hold (halves of
    surrogate pairs) are written all the same.
    """
    lines = [f"{_toml(key)} = {_toml(value)}\n" for key, value in document.items()]
    return "".join(lines).encode("utf-8", "surrogatepass")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        if value.isprintable() and not set(value) & set('\\"'):
            return f'"{value}"'
        plain = (c if c.isprintable() and c not in '\\"' else _escaped(c) for c in value)
        return '"' + "".join(plain) + '"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 1 << 64:
        return hex(value) if value > 0 else str(value)
    return repr(value)


def _escaped(char: str) -> str:
    return char if "\ud800" <= char <= "\udfff" else f"\\U{ord(char):08x}"


def json_of(document: Any) -> bytes:
    """The document as JSON, with Python's additions (NaN, Infinity)."""
    return json.dumps(document).encode()
