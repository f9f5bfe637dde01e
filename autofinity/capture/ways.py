"""Ways to build a program for capture, the most faithful first.

- `code`: GCC makes the machine code that users run, and its assembly is instrumented
  (`capture/assembly`): every access and every instruction is the program's own.
- `blocks`: the compiler instruments before it vectorises, as a thread sanitizer; instructions are
  those of the instrumented blocks, without what the instrumentation added (`blocks.py`).
- `accesses`: as `blocks`, but without counts: instructions are estimated.
"""

from __future__ import annotations

import mmap
import platform
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autofinity.own_python import own_python_script

Counted = Literal["code", "blocks", "accesses"]
TOOLS = "{tools}"
"""Placeholder in flags for the folder that `write_tools` filled."""
_OLDEST_GCC = 9
# gcc expands copies of known size inline, where they are not recorded: ask for library calls.
_LIBRARY_COPIES = (
    ("-mmemcpy-strategy=libcall:-1:noalign", "-mmemset-strategy=libcall:-1:noalign")
    if platform.machine() == "x86_64"
    else ()
)
# Marks accesses to volatile variables, which may be flags that a thread waits for.
_VOLATILE = "--param=tsan-distinguish-volatile=1"
GCC_FLAGS = ("-fsanitize=thread", *_LIBRARY_COPIES, _VOLATILE)
ASSEMBLY_FLAGS = ("-dP", f"-B{TOOLS}/")
_GCC_COVERAGE = "-fsanitize-coverage=trace-pc"
# clang's driver would link its own static runtime: ask the compiler proper only.
_CLANG = "-Xclang -fsanitize=thread -mllvm -tsan-distinguish-volatile"
_CLANG_COVERAGE = "-Xclang -fsanitize-coverage-type=3 -Xclang -fsanitize-coverage-trace-pc"


@dataclass(frozen=True, slots=True)
class Way:
    """Flags that a program is compiled and linked with."""

    flags: str
    counted: Counted


def ways(versions: Mapping[str, str], environment: Mapping[str, str]) -> list[Way]:
    """Ways to try for these compilers (command → output of `--version`), best first."""
    clang = any("clang" in said for said in versions.values())
    if clang:
        thread, coverage = _CLANG, _CLANG_COVERAGE
    else:
        thread, coverage = " ".join(GCC_FLAGS), _GCC_COVERAGE
    # The last way uses only flags that every gcc since 4.8 knows.
    older = thread.replace(f" {_VOLATILE}", "")
    least = older.split(" -m")[0]
    found = [
        Way(f"{thread} {coverage}", "blocks"),
        Way(f"{older} {coverage}", "blocks"),
        Way(older, "accesses"),
        Way(least, "accesses"),
    ]
    if _assembly_can_be_instrumented(versions, environment):
        found.insert(0, Way(" ".join(ASSEMBLY_FLAGS), "code"))
    return list(dict.fromkeys(found))


def _assembly_can_be_instrumented(
    versions: Mapping[str, str], environment: Mapping[str, str]
) -> bool:
    if platform.machine() != "x86_64" or shutil.which("as", path=environment.get("PATH")) is None:
        return False
    return all(_gcc_version(said) >= _OLDEST_GCC for said in versions.values())


def _gcc_version(said: str) -> int:
    """Major version of a GCC from the first line of its `--version`; 0 for another compiler."""
    if "Free Software Foundation" not in said:
        return 0
    found = re.search(r" (\d+)\.\d+", said.splitlines()[0])
    return int(found[1]) if found else 0


def write_tools(folder: Path, environment: Mapping[str, str]) -> None:
    """Put the instrumenting assembler into the folder, where GCC finds it by `-B`."""
    real = shutil.which("as", path=environment.get("PATH")) or "as"
    folder.mkdir(exist_ok=True)
    script = folder / "as"
    script.write_text(own_python_script("autofinity.capture.assembly.assembler", real))
    script.chmod(0o755)


def instrumented(folder: Path) -> bool:
    """Whether a file in the folder of a build calls the runtime by assembly's hooks."""
    return any(path.is_file() and runs_only_captured(path) for path in folder.rglob("*"))


def runs_only_captured(path: Path) -> bool:
    """Whether the file is machine code, or an archive of it, that calls assembly's hooks."""
    try:
        with path.open("rb") as file:
            if not file.read(8).startswith((b"\x7fELF", b"!<arch>")):
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return content.find(b"__af_block") >= 0
    except OSError:
        return False
