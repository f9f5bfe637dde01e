"""Suite manifests: the programs of a suite, and how each is built, run and given its threads.

A manifest is TOML; `docs/suites.md` shows one. Users write manifests, so every mistake in a
manifest is an error that names the file, the key and what was expected.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from autofinity.checked_file import Table, WrongValueError, checked, naming, near, read_toml, shown
from autofinity.model.errors import SuiteError, UnknownProgramError

MAX_THREADS = 4096
PLACEHOLDERS = (
    *("cc", "cxx", "fc", "cflags", "cxxflags", "fflags", "ldflags", "vectors"),
    *("dir", "out", "threads", "jobs", "input"),
)


def _no_other_placeholder(lines: tuple[str, ...]) -> tuple[str, ...]:
    for found in re.findall(r"\{([a-z_]+)\}", " ".join(lines)):
        if found not in PLACEHOLDERS:
            raise WrongValueError("", f"{{{found}}} is no placeholder{near(found, PLACEHOLDERS)}")
    return lines


def _a_path(text: str) -> str:
    _no_other_placeholder((text,))
    return text


def _some_counts(allowed: str | tuple[int, ...]) -> str | tuple[int, ...]:
    if isinstance(allowed, str) and allowed != "power-of-two":
        span = re.fullmatch(r"(\d{1,6})-(\d{1,6})", allowed)
        if span is None or not 1 <= int(span[1]) <= int(span[2]):
            raise WrongValueError("", f"got {shown(allowed)}, expected {_ALLOWED}")
    return allowed


def _an_expression(expect: str) -> str:
    try:
        re.compile(expect)
    except re.error as error:
        raise WrongValueError("", f"got {shown(expect)}, no regular expression ({error})") from None
    return expect


def _below_the_manifest(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        path = PurePosixPath(pattern)
        whole = all("**" not in part or part == "**" for part in path.parts)
        if path.is_absolute() or ".." in path.parts or not path.parts or not whole:
            raise WrongValueError(
                "",
                f"got {shown(pattern)}, expected files, folders or patterns below the manifest's "
                "folder (no /… or .., and ** as a whole part only)",
            )
    return patterns


def _words_of_a_shell(inputs: Mapping[str, str]) -> Mapping[str, str]:
    for size, words in inputs.items():
        try:
            shlex.split(words)
        except ValueError as error:
            raise WrongValueError(
                "", f"{size} is {shown(words)}, no words of a shell ({error})"
            ) from None
    return inputs


def _names(pattern: str, what: str) -> AfterValidator:
    """Validator of a mapping whose keys must be names of this pattern."""

    def names[Value](mapping: Mapping[str, Value]) -> Mapping[str, Value]:
        for name in mapping:
            if not re.fullmatch(pattern, name):
                raise WrongValueError("", f"got {shown(name)}, expected {what}")
        return mapping

    return AfterValidator(names)


_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]*"
_ALLOWED = "'LOW-HIGH', 'power-of-two' or a list of counts"
Lines = Annotated[
    tuple[str, ...],
    Strict(False),  # the value of the next line is no longer JSON
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    AfterValidator(_no_other_placeholder),
    Field(description="a text or a list of texts"),
]
Words = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
"""Text that becomes an argument; numbers are accepted as texts, too."""


@dataclass(frozen=True, slots=True)
class Threads:
    """How the thread count reaches a program, and the counts that the program accepts."""

    env: Annotated[
        Mapping[str, Words],
        _names(r"[A-Za-z_][A-Za-z0-9_]*", "names of environment variables"),
    ] = field(default_factory=dict)
    """Environment variables; `{threads}` in a value is the count."""
    allowed: Annotated[
        str | Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)],
        AfterValidator(_some_counts),
        Field(description=_ALLOWED),
    ] = f"1-{MAX_THREADS}"
    """Accepted counts: `LOW-HIGH`, `power-of-two`, or a tuple of counts."""

    def allows(self, threads: int) -> bool:
        """Whether the program can run with this number of threads."""
        if isinstance(self.allowed, tuple):
            return threads in self.allowed
        if self.allowed == "power-of-two":
            return threads & (threads - 1) == 0
        low, _, high = self.allowed.partition("-")
        return int(low) <= threads <= int(high)

    def __str__(self) -> str:
        """Text for messages: `1-64`, `power-of-two` or `2, 4, 8`."""
        return self.allowed if isinstance(self.allowed, str) else ", ".join(map(str, self.allowed))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSpec:
    """One program of a suite. Placeholders are still in `build`, `run` and `threads.env`."""

    name: Annotated[
        str,
        Field(pattern=f"^{_NAME}$"),
        Field(description="a name of letters, digits and ._+-"),
    ]
    family: str
    """Kind of behaviour, for holding whole families out; the program's name when the file has
    none."""
    description: str = ""
    language: Literal["c", "c++", "fortran"] = "c"
    parallel: Literal["openmp", "pthreads", "threads"] = "pthreads"
    build: Lines = ()
    """Shell lines, run in order in the folder of the manifest; may be empty."""
    sources: Annotated[Lines, AfterValidator(_below_the_manifest)] = ()
    """Files that the lines read: files, folders or patterns beside the manifest. Empty: those that
    the lines name by `{dir}/NAME`, or all that exist. When one changes, the program is built
    again."""
    run: Annotated[Lines, Field(min_length=1)]
    """Argument vector; an element that is exactly `{input}` expands to the words of the input."""
    stdin: Annotated[str, AfterValidator(_a_path)] = ""
    """File for standard input; a relative path is looked for beside the manifest. Empty:
    /dev/null."""
    cwd: Annotated[str, AfterValidator(_a_path)] = ""
    """Folder that the program runs in, as `{dir}` or `{out}`; a relative path is below that of the
    manifest. Empty: under capture, an empty folder of its own; on the present machine, `{out}`."""
    threads: Threads = Threads()
    roi: Literal["marks", "parallel", "whole"] = "marks"
    expect: Annotated[str, AfterValidator(_an_expression)] = ""
    """Regular expression that standard output must contain; empty for none."""
    timeout_s: Annotated[float, Field(gt=0)] = 600.0
    inputs: Annotated[
        Mapping[str, Words],
        _names(_NAME, "sizes of letters, digits and ._+-"),
        AfterValidator(_words_of_a_shell),
        Field(min_length=1, description="at least one size, such as small = '1000 10'"),
    ]
    """Arguments by size, quoted as for a shell."""

    def input_of(self, size: str) -> str:
        """Arguments of a size. Raises `SuiteError`, which lists the known sizes."""
        if size not in self.inputs:
            raise UnknownProgramError(
                f"{self.name} has no input of size {size!r}; expected one of "
                + ", ".join(self.inputs)
            )
        return self.inputs[size]


class _Head(Table):
    name: Annotated[str, Field(min_length=1)]
    version: Literal[1] = 1
    description: str = ""


class _Manifest(Table):
    suite: _Head
    programs: Annotated[
        Mapping[str, ProgramSpec], Field(min_length=1, description="at least one program")
    ]


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
        """Folder of the manifest, which `{dir}` stands for."""
        return self.path.parent

    def pick(self, names: tuple[str, ...]) -> tuple[ProgramSpec, ...]:
        """The named programs, each once, or all without names. Raises `SuiteError`, which lists the
        known names.
        """
        for name in names:
            if name not in self.programs:
                raise UnknownProgramError(
                    f"{self.path}: no program {name!r}{near(name, self.programs)}"
                )
        return tuple(self.programs[name] for name in dict.fromkeys(names) or self.programs)


def load_suite(path: Path) -> Suite:
    """Read and check a manifest. Raises `SuiteError` for any mistake in it."""
    document = read_toml(path, SuiteError)
    place = Path(os.path.realpath(path))
    with naming(path, SuiteError):
        read = checked(_Manifest, {**document, **_named(document)})
    head = read.suite
    return Suite(head.name, head.version, head.description, place, read.programs)


def _named(document: Mapping[str, object]) -> dict[str, object]:
    """The programs of a manifest, each with its name added."""
    programs = document.get("programs")
    if not isinstance(programs, dict):
        return {}
    for name, table in programs.items():
        if isinstance(table, dict) and "name" in table:
            raise WrongValueError(f"programs.{name}.name", "unknown key; the table has the name")
    return {
        "programs": {
            name: {"family": name, **table, "name": name} if isinstance(table, dict) else table
            for name, table in programs.items()
        }
    }
