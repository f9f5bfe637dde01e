"""Files as pydantic models: every error in a file is a line that names file and key.

    file ─► document ─► checked ─► model, or "FILE: KEY: got X, expected Y"

The expected value is described by the model's JSON schema at the key, in words. Documents are
checked as JSON, with strict types (no "1" for a number), except that a list makes a tuple. Code of
the run-time monitor does not import this module.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Never

from pydantic import BaseModel, ConfigDict, ValidationError

from autofinity.given_file import read_given
from autofinity.model.errors import AutofinityError

LARGEST_BYTES = 4 << 20
"""Largest size of a file, far above any file that a person writes; a device or a wrong file must
not fill the memory."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INT_BITS = 63
"""Bits of TOML's integers. Python would read larger numbers, and converts them to text slowly or
not at all."""
_BARE = re.compile(r"[A-Za-z0-9_.-]{1,60}")

type Schema = dict[str, Any]


class Table(BaseModel):
    """An immutable table without unknown keys and infinite numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class WrongValueError(ValueError):
    """An impossible value, at a key such as `l1.ways` (empty: the whole file).

    Validators of a table name keys of that table.
    """

    def __init__(self, key: str, what: str) -> None:
        super().__init__(f"{key}: {what}" if key else what)
        self.key = key
        self.what = what


@contextmanager
def naming(path: Path, kind: type[AutofinityError]) -> Iterator[None]:
    """Turn a `WrongValueError` inside the context into an error of `kind` that names the file."""
    try:
        yield
    except WrongValueError as wrong:
        raise kind(f"{path}: {wrong}") from None


def read_toml(path: Path, kind: type[AutofinityError]) -> dict[str, Any]:
    """Content of a TOML file, unchecked except for control characters.

    These could end arguments early or write over a terminal. Raises an error of `kind` that names
    the file.
    """
    try:
        document = tomllib.loads(read_given(path, LARGEST_BYTES).decode("utf-8"))
    except OSError as error:
        raise kind(f"{path}: cannot be read: {error.strerror}; expected a TOML file") from error
    # Not UTF-8, not TOML, or too long a number; the parser recurses for each nested bracket.
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise kind(f"{path}: not a TOML file: {why}") from error
    for value in _values(document):
        if isinstance(value, str) and _CONTROL.search(value):
            raise kind(f"{path}: got {shown(value)}, expected texts without control characters")
        if isinstance(value, int) and value.bit_length() > _INT_BITS:
            raise kind(f"{path}: got {hex(value)[:12]}…, expected whole numbers of 64 bits")
    return document


def checked[T: Table](kind: type[T], document: object, at: str = "") -> T:
    """The document as a model; `at` is the document's key. Raises `WrongValueError`.

    A missing key is named only without other errors: it may be a misspelt, unknown key.
    """
    try:
        return kind.model_validate_json(json.dumps(document, default=_no_value))
    except ValidationError as error:
        found = error.errors()
    wrong = min(found, key=lambda each: each["type"] == "missing")
    schema = _schema_of(kind)
    steps, place = _place(schema, wrong["loc"])
    inner = wrong.get("ctx", {}).get("error")
    if isinstance(inner, WrongValueError):
        steps, what = [*steps, *filter(None, [inner.key])], inner.what
    elif wrong["type"] in _UNKNOWN:
        steps = list(wrong["loc"])
        what = f"unknown key{near(str(steps[-1]), place['properties'])}"
    else:
        missing = wrong["type"] == "missing"
        got = "missing;" if missing else f"got {shown(wrong['input'])},"
        what = f"{got} expected {_expected(place, schema)}"
    raise WrongValueError("".join(map(_key, (at, *steps) if at else steps)).removeprefix("."), what)


@cache
def _schema_of(kind: type[Table]) -> Schema:
    """JSON schema of a model; making it takes most of the time of an error."""
    return kind.model_json_schema()


def shown(value: object) -> str:
    """A value for a message, shortened to at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def near(name: str, known: Iterable[str]) -> str:
    """Text for messages: the known name that is like a misspelt one, or else all known names."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else f"; expected one of {', '.join(known)}"


def _values(value: object) -> Iterator[object]:
    """All keys of a document, and all values that hold no others."""
    if not isinstance(value, dict | list):
        yield value
        return
    for part in value:
        yield from _values(part)
    for part in value.values() if isinstance(value, dict) else ():
        yield from _values(part)


def _key(step: int | str) -> str:
    """A step of a key in a message, on one line; in TOML's form where it needs no quotes."""
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _BARE.fullmatch(step) else f".{shown(step)}"


def _no_value(value: object) -> Never:
    raise WrongValueError("", f"got {value}, expected texts, numbers and tables; quote dates")


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_WORDS = {"boolean": "true or false", "string": "a text", "object": "a table"}


def _place(schema: Schema, loc: Iterable[int | str]) -> tuple[list[int | str], Schema]:
    """The part of a place that leads into a schema, and the schema at its end.

    For a value of several possible kinds, the part ends before the kinds.
    """
    steps, here = [], _resolved(schema, schema)
    for step in loc:
        if isinstance(step, int):
            inner = here["prefixItems"][step] if "prefixItems" in here else here.get("items")
        else:
            inner = here.get("properties", {}).get(step, here.get("additionalProperties"))
        if not isinstance(inner, dict):
            break
        steps.append(step)
        here = _resolved(inner, schema)
    return steps, here


def _resolved(here: Schema, schema: Schema) -> Schema:
    """The target of a reference; for an optional value, the schema of a value that is present."""
    kinds = [kind for kind in here.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) == 1:
        return _resolved({**kinds[0], **here, "anyOf": ()}, schema)
    if "$ref" in here:
        named = schema["$defs"][here["$ref"].rpartition("/")[2]]
        return {**named, "description": None, **here}
    return here


def _expected(here: Schema, schema: Schema) -> str:
    if here.get("description"):
        return str(here["description"])
    if here.get("anyOf"):
        return " or ".join(_expected(_resolved(kind, schema), schema) for kind in here["anyOf"])
    if "const" in here:
        return repr(here["const"])
    if "enum" in here:
        return "one of " + ", ".join(map(str, here["enum"]))
    kind = here["type"]
    if kind in ("integer", "number"):
        return ("a whole number" if kind == "integer" else "a number") + _range(here)
    if kind == "array":
        items = here.get("items")
        return "a list" + (f", each {_expected(_resolved(items, schema), schema)}" if items else "")
    return _WORDS[kind]


def _range(here: Schema) -> str:
    if "exclusiveMinimum" in here:
        return f" above {here['exclusiveMinimum']:g}"
    number = str if here["type"] == "integer" else "{:g}".format
    low, high = (here.get(end) for end in ("minimum", "maximum"))
    if low is None or high is None:
        return "" if low is None else f" of at least {number(low)}"
    return f" from {number(low)} to {number(high)}"
