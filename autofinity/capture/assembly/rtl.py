"""Facts about an instruction's operand in memory from GCC's register transfer language.

Sources: GCC's print-rtl.cc: `(mem/v:SI ADDRESS [ALIAS EXPR S4 A32])`, where `/v` is volatile, and
the alias set -1 is that of atomic built-ins (builtins.cc, get_builtin_sync_mem). Atomic
instructions carry the C11 memory order as a constant; an acquiring load is followed by a memory
blockage that was made from the same source position.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MEM = re.compile(r"\(mem((?:/\w)*):(\w+) ")
_SIZE = re.compile(r"\bS(\d+)\b")
_ORDER = re.compile(r"\(const_int (\d+) \[[^\]]*\]\)\s*\] UNSPECV?_(?:XCHG|CMPXCHG|STA|SYNC|XADD)")
_POSITION = re.compile(r'"[^"]*":\d+(?::\d+)?')
_MODE_BYTES = {"QI": 1, "HI": 2, "SI": 4, "DI": 8, "TI": 16, "OI": 32, "XI": 64, "HF": 2, "BF": 2,
               "SF": 4, "DF": 8, "XF": 16, "TF": 16, "SC": 8, "DC": 16}  # fmt: skip
_VECTOR_MODE = re.compile(r"^V(\d+)(\w+)$")
SEQUENTIALLY_CONSISTENT = 5
RELAXED = 0
ACQUIRE = 2


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """Facts about an instruction's operand in memory."""

    size: int
    """Size in bytes; 0 where not given."""
    volatile: bool
    atomic: bool


def memory_facts(rtl: str) -> MemoryFacts:
    """Facts about the largest operand in memory that is named."""
    size, is_volatile, is_atomic = 0, False, False
    for match in _MEM.finditer(rtl):
        flags, mode = match[1], match[2]
        attributes = _attributes(rtl, match.end())
        said = _SIZE.search(attributes)
        if mode == "BLK":
            continue
        size = max(size, _mode_bytes(mode) or (int(said[1]) if said else 0))
        if "/v" in flags:
            is_volatile = True
            is_atomic |= attributes.lstrip("[").startswith("-1 ")
    return MemoryFacts(size, is_volatile, is_atomic)


def _attributes(rtl: str, at: int) -> str:
    """The text after a memory operand's address, up to its closing parenthesis."""
    depth = 0
    while at < len(rtl):
        character = rtl[at]
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                break
            if depth < 0:
                return ""
        at += 1
    end = rtl.find("])", at)
    return rtl[at + 1 : end].strip() if end >= 0 else ""


def _mode_bytes(mode: str) -> int:
    vector = _VECTOR_MODE.match(mode)
    if vector is not None:
        return int(vector[1]) * _MODE_BYTES.get(vector[2], 0)
    return _MODE_BYTES.get(mode, 0)


def order_of(rtl: str) -> int:
    """C11 memory order of an atomic instruction: 0 relaxed … 5 sequentially consistent."""
    found = _ORDER.search(rtl)
    # Above the low bits are hints for the compiler: __sync_ built-ins, elided locks.
    order = int(found[1]) & 0x7FFF if found else SEQUENTIALLY_CONSISTENT
    return order if order <= SEQUENTIALLY_CONSISTENT else SEQUENTIALLY_CONSISTENT


def position(rtl: str) -> str:
    """Source position of the instruction, or the empty text."""
    found = _POSITION.findall(rtl)
    return found[-1] if found else ""
