"""Facts from a program's file: the functions that it takes from libraries, and how it starts.

Only 64-bit files are read, of either byte order. Damaged parts of a file count as missing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

X86_64 = 62
_MAGIC = b"\x7fELF"
_INTERPRETER = 3
_DYNAMIC = 6
_DYNAMIC_SYMBOLS = 11
_NEEDED = 1
_EXECUTABLE, _SHARED = 2, 3
_GO_SECTIONS = frozenset({".note.go.buildid", ".gopclntab", ".go.buildinfo"})


@dataclass(frozen=True, slots=True)
class Elf:
    """A file that the dynamic linker, or the kernel by itself, can load."""

    machine: int
    """Machine number of the format: `X86_64`."""
    starts: bool
    """Whether the file is a program: it names the linker that loads it, or needs none."""
    dynamic: bool
    """Whether the file names the dynamic linker, so that a library can be put before others."""
    sections: frozenset[str]
    imports: frozenset[str]
    """Functions and variables that the file takes from elsewhere, without versions."""
    libraries: tuple[str, ...]
    """Names of the libraries that the file asks the dynamic linker for."""

    @property
    def is_go(self) -> bool:
        """Whether Go's linker made the file; its threads and waits belong to no library."""
        return bool(self.sections & _GO_SECTIONS)

    @property
    def is_static(self) -> bool:
        """Whether the file is a program that uses no dynamic linker."""
        return self.starts and not self.dynamic


def read_elf(path: Path) -> Elf | None:
    """Facts from the file; None where it is no such file, or cannot be read."""
    try:
        with path.open("rb") as file:
            if file.read(4) != _MAGIC:
                return None
        content = path.read_bytes()
        return _parsed(content)
    except (OSError, struct.error, IndexError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class _Section:
    name: int
    kind: int
    offset: int
    size: int
    link: int


def _parsed(content: bytes) -> Elf | None:
    if len(content) < 64 or content[4] != 2:
        return None
    order = "<" if content[5] == 1 else ">"
    kind, machine = struct.unpack_from(f"{order}HH", content, 16)
    if kind not in (_EXECUTABLE, _SHARED):
        return None
    dynamic = _INTERPRETER in _segments(content, order)
    sections = list(_sections(content, order))
    names = struct.unpack_from(f"{order}H", content, 62)[0]
    named = frozenset(
        _text(content, sections[names].offset + section.name)
        for section in sections
        if names < len(sections)
    )
    return Elf(
        machine,
        starts=dynamic or kind == _EXECUTABLE,
        dynamic=dynamic,
        sections=named,
        imports=frozenset(_imports(content, order, sections)),
        libraries=tuple(_libraries(content, order, sections)),
    )


def _segments(content: bytes, order: str) -> list[int]:
    (offset,) = struct.unpack_from(f"{order}Q", content, 32)
    size, count = struct.unpack_from(f"{order}HH", content, 54)
    return [struct.unpack_from(f"{order}I", content, offset + size * i)[0] for i in range(count)]


def _sections(content: bytes, order: str) -> Iterator[_Section]:
    (offset,) = struct.unpack_from(f"{order}Q", content, 40)
    size, count = struct.unpack_from(f"{order}HH", content, 58)
    for i in range(count if offset else 0):
        name, kind, _, _, at, length, link = struct.unpack_from(
            f"{order}IIQQQQI", content, offset + size * i
        )
        yield _Section(name, kind, at, length, link)


def _imports(content: bytes, order: str, sections: list[_Section]) -> Iterator[str]:
    entry = struct.Struct(f"{order}IBBHQQ")
    for texts, (name, _, _, defined_in, _, _) in _entries(
        content, sections, _DYNAMIC_SYMBOLS, entry
    ):
        if name and defined_in == 0:
            yield _text(content, texts + name)


def _libraries(content: bytes, order: str, sections: list[_Section]) -> Iterator[str]:
    entry = struct.Struct(f"{order}QQ")
    for texts, (tag, name) in _entries(content, sections, _DYNAMIC, entry):
        if tag == _NEEDED:
            yield _text(content, texts + name)


def _entries(
    content: bytes, sections: list[_Section], kind: int, entry: struct.Struct
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Entries of all sections of a kind, each with the offset of the texts that it names."""
    for section in sections:
        if section.kind == kind:
            for at in range(section.offset, section.offset + section.size, entry.size):
                yield sections[section.link].offset, entry.unpack_from(content, at)


def _text(content: bytes, at: int) -> str:
    return content[at : content.index(b"\0", at)].decode(errors="replace")
