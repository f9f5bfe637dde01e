"""Suite manifests: which programs there are, how each is built, run and given its threads.

A manifest is TOML; `docs/suites.md` shows one. Everything a manifest can get wrong is an error that
names the file, the key and what was expected, because manifests are written by users.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autofinity.model.errors import SuiteError

type Roi = Literal["marks", "parallel", "whole"]

LANGUAGES = ("c", "c++", "fortran")
PARALLEL = ("openmp", "pthreads", "threads")
ROIS = ("marks", "parallel", "whole")
MAX_THREADS = 4096
LARGEST_MANIFEST_BYTES = 4 << 20
"""Far above any suite; a device or a wrong file must not fill the memory."""
PLACEHOLDERS = (
    *("cc", "cxx", "fc", "cflags", "cxxflags", "fflags", "ldflags"),
    *("dir", "out", "threads", "jobs", "input"),
)


@dataclass(frozen=True, slots=True)
class Threads:
    """How the thread count reaches a program, and which counts it takes."""

    env: Mapping[str, str]
    """Environment variables; `{threads}` in a value is the count."""
    allowed: str | tuple[int, ...]
    """`LOW-HIGH`, `power-of-two`, or a tuple of counts."""

    def allows(self, threads: int) -> bool:
        """Whether the program can run with so many threads."""
        if isinstance(self.allowed, tuple):
            return threads in self.allowed
        if self.allowed == "power-of-two":
            return threads & (threads - 1) == 0
        low, _, high = self.allowed.partition("-")
        return int(low) <= threads <= int(high)

    def __str__(self) -> str:
        """For messages: `1-64`, `power-of-two` or `2, 4, 8`."""
        return self.allowed if isinstance(self.allowed, str) else ", ".join(map(str, self.allowed))


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """One program of a suite. Placeholders are still in `build`, `run` and `threads.env`."""

    name: str
    description: str
    family: str
    """The kind of behaviour, for holding whole families out."""
    language: str
    parallel: str
    build: tuple[str, ...]
    """Shell lines, run in order in the folder of the manifest; may be empty."""
    run: tuple[str, ...]
    """argv; an element that is exactly `{input}` expands to the words of the input."""
    threads: Threads
    roi: Roi
    expect: str
    """Regular expression that standard output must contain; empty for none."""
    timeout_s: float
    inputs: Mapping[str, str]
    """Arguments by size."""

    def input_of(self, size: str) -> str:
        """Arguments of a size. Raises `SuiteError` with the sizes there are."""
        if size not in self.inputs:
            raise SuiteError(
                f"{self.name} has no input of size {size!r}; expected one of "
                + ", ".join(self.inputs)
            )
        return self.inputs[size]


@dataclass(frozen=True, slots=True)
class Suite:
    """A manifest that has been read and checked."""

    name: str
    version: int
    description: str
    path: Path
    programs: Mapping[str, ProgramSpec]

    @property
    def folder(self) -> Path:
        """Folder of the manifest: what `{dir}` stands for."""
        return self.path.parent

    def pick(self, names: tuple[str, ...]) -> tuple[ProgramSpec, ...]:
        """The programs named, or all for no name. Raises `SuiteError` with the known names."""
        unknown = [name for name in names if name not in self.programs]
        if unknown:
            raise SuiteError(
                f"{self.path}: no program {unknown[0]!r}{_near(unknown[0], self.programs)}; the "
                "suite has " + ", ".join(self.programs)
            )
        return tuple(self.programs[name] for name in names or self.programs)


def load_suite(path: Path) -> Suite:
    """Read and check a manifest. Raises `SuiteError` for anything that is not as it must be."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_MANIFEST_BYTES + 1)
        if len(content) > LARGEST_MANIFEST_BYTES:
            raise SuiteError(
                f"{path} is no suite manifest: more than {LARGEST_MANIFEST_BYTES >> 20} MiB"
            )
        document = tomllib.loads(content.decode("utf-8"))
    except FileNotFoundError:
        raise SuiteError(f"no suite manifest at {path}; expected a TOML file") from None
    except OSError as error:
        raise SuiteError(f"cannot read the suite manifest {path}: {error.strerror}") from error
    # Python's TOML parser recurses once for each nested bracket.
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SuiteError(f"{path} is not TOML: {error}") from error
    top = _Table(path, "", document, ("suite", "programs"))
    suite = top.table("suite", ("name", "version", "description"))
    programs = top.table("programs", None)
    if not programs.values:
        raise SuiteError(f"{path}: [programs] is empty, expected at least one program")
    return Suite(
        name=suite.text("name"),
        version=suite.whole("version", 1, 1, 1),
        description=suite.text("description", ""),
        path=path.resolve(),
        programs={name: _program(programs, name) for name in programs.values},
    )


def _program(programs: _Table, name: str) -> ProgramSpec:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
        raise programs.wrong(name, "a name of letters, digits and ._+-")
    table = programs.table(
        name,
        (
            "description",
            "family",
            "language",
            "parallel",
            "build",
            "run",
            "threads",
            "roi",
            "expect",
            "timeout_s",
            "inputs",
        ),
    )
    threads = table.table("threads", ("env", "allowed"), optional=True)
    inputs = table.table("inputs", None)
    if not inputs.values:
        raise table.wrong("inputs", "at least one size, such as small = '1000 10'")
    expect = table.text("expect", "")
    try:
        re.compile(expect)
    except re.error as error:
        raise table.wrong("expect", f"a regular expression ({error})") from None
    for key in ("build", "run"):
        for found in re.findall(r"\{([a-z_]+)\}", " ".join(table.texts(key, ()))):
            if found not in PLACEHOLDERS:
                raise table.wrong(
                    key,
                    f"no placeholder {{{found}}}{_near(found, PLACEHOLDERS)}; known are "
                    + ", ".join(PLACEHOLDERS),
                )
    return ProgramSpec(
        name=name,
        description=table.text("description", ""),
        family=table.text("family", name),
        language=table.choice("language", LANGUAGES, "c"),
        parallel=table.choice("parallel", PARALLEL, "pthreads"),
        build=table.texts("build", ()),
        run=table.texts("run", None),
        threads=Threads(
            env=dict(threads.table("env", None, optional=True).texts_of()),
            allowed=_allowed(threads),
        ),
        roi=table.choice("roi", ROIS, "marks"),  # type: ignore[arg-type]
        expect=expect,
        timeout_s=table.number("timeout_s", 600.0),
        inputs=dict(inputs.texts_of()),
    )


def _allowed(threads: _Table) -> str | tuple[int, ...]:
    found = threads.values.get("allowed", f"1-{MAX_THREADS}")
    form = "'LOW-HIGH', 'power-of-two' or a list of counts"
    if isinstance(found, list):
        if not found or not all(type(count) is int and count > 0 for count in found):
            raise threads.wrong("allowed", form)
        return tuple(found)
    if found == "power-of-two":
        return "power-of-two"
    span = re.fullmatch(r"(\d{1,6})-(\d{1,6})", found) if isinstance(found, str) else None
    if span is None or not 1 <= int(span[1]) <= int(span[2]):
        raise threads.wrong("allowed", form)
    assert isinstance(found, str)
    return found


class _Table:
    """One TOML table with its place in the file, for errors that name the key."""

    def __init__(
        self, path: Path, where: str, values: object, keys: tuple[str, ...] | None
    ) -> None:
        self._path = path
        self._where = where
        if not isinstance(values, dict):
            raise SuiteError(f"{path}: {where or 'the file'} is {values!r}, expected a table")
        self.values: dict[str, object] = values
        for key in values if keys is not None else ():
            if key not in (keys or ()):
                raise SuiteError(
                    f"{path}: unknown key {self._name(key)}{_near(key, keys or ())}; expected "
                    + ", ".join(keys or ())
                )

    def wrong(self, key: str, expected: str) -> SuiteError:
        """The error for a value that cannot be."""
        got = f"is {self.values[key]!r}" if key in self.values else "is missing"
        return SuiteError(f"{self._path}: {self._name(key)} {got}, expected {expected}")

    def table(self, key: str, keys: tuple[str, ...] | None, optional: bool = False) -> _Table:
        if key not in self.values and not optional:
            raise self.wrong(key, "a table")
        return _Table(self._path, self._name(key), self.values.get(key, {}), keys)

    def text(self, key: str, default: str | None = None) -> str:
        found = self.values.get(key, default)
        if not isinstance(found, str) or (default is None and not found):
            raise self.wrong(key, "a text")
        return found

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        found = self.values.get(key, default)
        if found not in allowed:
            raise self.wrong(key, "one of " + ", ".join(allowed))
        return str(found)

    def texts(self, key: str, default: tuple[str, ...] | None) -> tuple[str, ...]:
        found = self.values.get(key, default)
        if isinstance(found, str):
            return (found,)
        if (
            not isinstance(found, list | tuple)
            or not all(isinstance(item, str) for item in found)
            or (default is None and not found)
        ):
            raise self.wrong(key, "a text or a list of texts")
        return tuple(found)

    def texts_of(self) -> Iterator[tuple[str, str]]:
        for key, found in self.values.items():
            if not isinstance(found, str | int):
                raise self.wrong(key, "a text")
            yield key, str(found)

    def whole(self, key: str, low: int, high: int, default: int) -> int:
        found = self.values.get(key, default)
        if type(found) is not int or not low <= found <= high:
            expected = str(low) if low == high else f"a whole number from {low} to {high}"
            raise self.wrong(key, expected)
        return found

    def number(self, key: str, default: float) -> float:
        found = self.values.get(key, default)
        if type(found) not in (int, float) or not found > 0 or found == float("inf"):  # type: ignore[operator]
            raise self.wrong(key, "a positive number")
        return float(found)  # type: ignore[arg-type]

    def _name(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key


def _near(name: str, known: object) -> str:
    """A suggestion for a misspelt name, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)  # type: ignore[call-overload]
    return f" (did you mean {close[0]}?)" if close else ""
