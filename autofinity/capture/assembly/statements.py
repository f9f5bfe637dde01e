"""GCC's assembly (`-S -dP`, AT&T syntax) as statements: labels, instructions, and the lines
between.

With `-dP` GCC writes before each instruction its origin in the register transfer language (RTL), as
comments. These change no code, and have facts that machine code lacks: which moves are atomic or
volatile, and the size of each operand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from autofinity.model.errors import AutofinityError

_LABEL = re.compile(r"^([\w.$@]+):\s*$")
_PREFIXES = ("lock", "rep", "repz", "repnz", "repe", "repne", "notrack", "bnd", "data16", "rex64")
_RTL_BEGINS = re.compile(r"^#\((\w+)[ /:]")


class AssemblyError(AutofinityError):
    """Assembly that cannot be instrumented."""


class Kind(Enum):
    """Kind of a statement."""

    LABEL = "label"
    INSTRUCTION = "instruction"
    INLINE = "inline"
    """The text of an `asm` statement of the program, all its lines."""
    BLOCKAGE = "blockage"
    """No code: the compiler may move no memory access over it (acquire and release)."""
    OTHER = "other"
    """Directives and comments."""


@dataclass(slots=True)
class Statement:
    """A line of assembly, or the lines of an `asm` statement."""

    kind: Kind
    text: str
    mnemonic: str = ""
    prefixes: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    rtl: str = ""
    """GCC's RTL that the instruction was made from; empty where there is none."""
    before: list[str] = field(default_factory=list)
    """Lines that the instrumentation puts before the statement."""
    after: list[str] = field(default_factory=list)


def split_statements(text: str) -> list[Statement]:
    """The statements of a file, in order. Raises `AssemblyError` for Intel syntax."""
    return list(_statements(text.splitlines()))


def _statements(lines: list[str]) -> Iterator[Statement]:
    rtl: list[str] = []
    inline: list[str] | None = None
    for line in lines:
        if inline is not None:
            inline.append(line)
            if line.startswith("#NO_APP"):
                yield Statement(Kind.INLINE, "\n".join(inline))
                inline = None
            continue
        if line.startswith("#APP"):
            inline, rtl = [line], []
            continue
        if line.startswith("#"):
            if _RTL_BEGINS.match(line):
                yield from _blockage(rtl)
                rtl = []
            rtl.append(line[1:])
            continue
        code = line.split("#", 1)[0].strip() if '"' not in line else line.strip()
        label = _LABEL.match(code)
        if label is not None:
            yield from _blockage(rtl)
            rtl = []
            yield Statement(Kind.LABEL, line, mnemonic=label[1])
        elif not code or code.startswith("."):
            if code.startswith(".intel_syntax"):
                raise AssemblyError(
                    "assembly in Intel syntax; expected that of AT&T (no -masm=intel)"
                )
            yield Statement(Kind.OTHER, line)
        else:
            yield _instruction(line, code, "\n".join(rtl))


def _blockage(rtl: list[str]) -> Iterator[Statement]:
    text = "\n".join(rtl)
    if "UNSPEC_MEMORY_BLOCKAGE" in text:
        yield Statement(Kind.BLOCKAGE, "", rtl=text)


def _instruction(line: str, code: str, rtl: str) -> Statement:
    words = code.replace("\t", " ").split(" ", 1)
    prefixes: list[str] = []
    while words[0] in _PREFIXES and len(words) > 1:
        prefixes.append(words[0])
        words = words[1].strip().split(" ", 1)
    operands = _operands(words[1].strip()) if len(words) > 1 else ()
    return Statement(Kind.INSTRUCTION, line, words[0], tuple(prefixes), operands, rtl)


def _operands(text: str) -> tuple[str, ...]:
    found: list[str] = []
    depth, begin = 0, 0
    for i, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(text[begin:i].strip())
            begin = i + 1
    found.append(text[begin:].strip())
    return tuple(found)
