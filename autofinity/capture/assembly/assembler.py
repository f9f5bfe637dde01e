"""Stands in for `as` while a program is built for capture: GCC finds it by `-B`.

The module instruments the assembly from GCC and passes it to the real assembler. Text that is not
GCC's own output with `-dP` (hand-written assembly) is passed unchanged. The arguments are the real
assembler's path and its arguments.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from autofinity.capture.assembly.instrument import instrument
from autofinity.capture.assembly.statements import AssemblyError

_BY_GCC = re.compile(r"^#\((?:insn|call_insn|jump_insn)[ /:]", re.MULTILINE)
_WITH_VALUE = ("-o", "-I", "--MD")


def input_of(arguments: list[str]) -> int | None:
    """Index of the one input file, or None for standard input."""
    found = [
        i
        for i, argument in enumerate(arguments)
        if not argument.startswith("-") and (i == 0 or arguments[i - 1] not in _WITH_VALUE)
    ]
    return found[-1] if found else None


def main(real: str, arguments: list[str]) -> int:
    """Assemble; return the real assembler's exit code."""
    at = input_of(arguments)
    given = Path(arguments[at]).read_bytes() if at is not None else sys.stdin.buffer.read()
    text = given.decode(errors="surrogateescape")
    if not _BY_GCC.search(text):
        return subprocess.run([real, *arguments], input=given, check=False).returncode
    if "--32" in arguments or "--x32" in arguments:
        raise AssemblyError("32-bit code cannot be instrumented")
    options = os.environ.get("COLLECT_GCC_OPTIONS", "")
    text = instrument(text, shared=bool(re.search(r"'-f(?:pic|PIC)'", options)))
    # Through a pipe: a file would stay where the build is killed.
    others = [argument for i, argument in enumerate(arguments) if i != at]
    piped = text.encode(errors="surrogateescape")
    return subprocess.run([real, *others], input=piped, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except AssemblyError as error:
        sys.exit(f"autofinity: {error}")
