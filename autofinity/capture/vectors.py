"""Flags with which a compiler uses this machine's vectors; `{vectors}` stands for them.

Distributions and sites today build for `-march=x86-64-v3` (AVX2, FMA). Where the CPU lacks this
level, where the compiler does not know the flag (GCC before 11), and on other machines a program is
built without the flag: it has to run here, too.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from pathlib import Path

FLAG = "-march=x86-64-v3"
_NEEDED = frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"})
"""Linux's names of the features that x86-64-v3 adds to v2 (psABI, section 3.1.1; `abm` is
LZCNT)."""
_GCC_THAT_KNOWS, _CLANG_THAT_KNOWS = 11, 12


def vector_flags(
    versions: Iterable[str],
    machine: str = platform.machine(),
    cpuinfo: Path = Path("/proc/cpuinfo"),
) -> str:
    """The flag for compilers with these answers to `--version`; "" where a compiler, or the CPU,
    does not support it.
    """
    if machine != "x86_64" or not all(map(_knows, versions)):
        return ""
    try:
        flags = re.search(r"^flags\s*:(.*)$", cpuinfo.read_text(errors="replace"), re.MULTILINE)
    except OSError:
        return ""
    return FLAG if flags is not None and set(flags[1].split()) >= _NEEDED else ""


def _knows(version: str) -> bool:
    clang = re.search(r"clang version (\d+)", version)
    if clang is not None:
        return int(clang[1]) >= _CLANG_THAT_KNOWS
    gcc = re.search(r" (\d+)\.\d+", version.partition("\n")[0])
    return gcc is not None and int(gcc[1]) >= _GCC_THAT_KNOWS
