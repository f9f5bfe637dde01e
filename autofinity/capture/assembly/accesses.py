"""Memory accesses of an instruction: address, number of bytes, and whether it reads or writes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autofinity.capture.assembly import registers, rtl
from autofinity.capture.assembly.statements import Kind, Statement

READ, WRITE, POINTER = 1, 2, 4

_WRITES_ONLY = re.compile(
    r"^(?:mov|v?mov|set|pop|v?extract|v?pextr|vcvtps2ph|fst|fist|fnst|stmxcsr|v?maskmov|vpmaskmov|vpscatter|vscatter)"
)
_READS_ONLY = re.compile(
    r"^(?:cmp[bwlq]?|test[bwlq]?|bt[wlq]?|(?:mul|div|idiv)[bwlq]?|imul\w*|push[wlq]?|call|jmp|ldmxcsr|fld\w*|fild\w*|fi?add\w*"
    r"|fi?sub\w*|fi?mul\w*|fi?div\w*|fu?com\w*|ficom\w*|verr|fldcw)$"
)
_NO_ACCESS = re.compile(r"^(?:lea|nop|prefetch|clflush|endbr)")
_ADDRESS = re.compile(r"^(?:%(fs|gs):)?([^()]*)(?:\(([^()]*)\))?$")
_SYMBOL = re.compile(r"^(.*?)([+-]\d+)?$")
_SUFFIX_BYTES = {"b": 1, "w": 2, "l": 4, "q": 8}
_SCALAR = re.compile(r"(ss|sd|si|sh)$")
_STRING = re.compile(r"^(movs|stos|scas|cmps|lods)([bwlq])$")


@dataclass(frozen=True, slots=True)
class Address:
    """An operand in memory, split into its parts."""

    segment: str
    symbol: str
    offset: int
    base: str
    index: str
    """Name of the index register (general or vector) without `%`."""
    scale: str

    @property
    def registers(self) -> int:
        """Set of the registers that the address is made from."""
        return registers.named(f"%{self.base} %{self.index}")

    @property
    def is_gathered(self) -> bool:
        """Whether each lane of a vector has an address of its own."""
        return self.index.startswith(("xmm", "ymm", "zmm"))

    def text(self, moved: int = 0) -> str:
        """The operand's text for a place where the stack pointer is `moved` bytes lower than at its
        instruction.
        """
        offset = self.offset + (moved if self.base == "rsp" else 0)
        plus = f"{offset:+d}" if self.symbol and offset else ("" if self.symbol else str(offset))
        inner = f"%{self.base}" if self.base else ""
        if self.index:
            inner += f",%{self.index},{self.scale or 1}"
        return f"{self.symbol}{plus}" + (f"({inner})" if inner else "")


@dataclass(frozen=True, slots=True)
class Access:
    """Access of one instruction to one place in memory."""

    address: Address
    size: int
    how: int
    """`READ` and `WRITE`; `POINTER`: the value read may be an address."""


def parse_address(operand: str) -> Address | None:
    """The parts of an operand, or None for an operand that is no address."""
    match = _ADDRESS.match(operand)
    if match is None:
        return None
    inner = [part.strip().lstrip("%") for part in (match[3] or "").split(",")]
    inner += [""] * (3 - len(inner))
    try:
        symbol, offset = "", int(match[2] or "0", 0)
    except ValueError:
        parts = _SYMBOL.match(match[2])
        symbol, offset = (parts[1], int(parts[2] or 0)) if parts else (match[2], 0)
    return Address(match[1] or "", symbol, offset, inner[0], inner[1], inner[2])


def is_string_operation(s: Statement) -> bool:
    """Whether the statement works through memory by `rsi`, `rdi` and `rcx`."""
    if s.kind is not Kind.INSTRUCTION or _STRING.match(s.mnemonic) is None:
        return False
    # movsd and its like move floating-point numbers; movsl and movsbl extend a sign.
    return not s.operands or (
        not any(operand.startswith("%xmm") for operand in s.operands)
        and (not s.operands or "(%rsi)" in s.operands[0] or "(%rdi)" in s.operands[-1])
    )


def string_bytes(s: Statement) -> int:
    """Bytes that a string operation processes at a time."""
    return _SUFFIX_BYTES[s.mnemonic[-1]]


def accesses_of(s: Statement) -> list[Access]:
    """Accesses of an instruction, in order; without those of string operations."""
    if s.kind is not Kind.INSTRUCTION or _NO_ACCESS.match(s.mnemonic) or is_string_operation(s):
        return []
    found = [a for operand in s.operands if (a := _explicit(s, operand)) is not None]
    top = Address("", "", 0, "rsp", "", "")
    below = Address("", "", -8, "rsp", "", "")
    if s.mnemonic.startswith("push") or s.mnemonic == "call":
        found.append(Access(below, 8, WRITE))
    elif s.mnemonic in ("pop", "popq", "ret"):
        found.insert(0, Access(top, 8, READ))
    elif s.mnemonic == "leave":
        found.append(Access(Address("", "", 0, "rbp", "", ""), 8, READ))
    return found


def _explicit(s: Statement, operand: str) -> Access | None:
    jumps = s.mnemonic == "call" or s.mnemonic.startswith("j")
    if jumps and not (operand.startswith("*") and "(" in operand):
        return None
    operand = operand.removeprefix("*")
    if operand.startswith(("%", "$")) and ":" not in operand:
        return None
    address = parse_address(operand)
    if address is None:
        return None
    size = 8 if jumps else _size(s, operand)
    how = READ if jumps else _how(s, operand)
    if how == READ and size == 8 and _loads_general(s):
        how |= POINTER
    return Access(address, size, how)


def _loads_general(s: Statement) -> bool:
    return registers.size_of_register(s.operands[-1]) == 8


def _how(s: Statement, operand: str) -> int:
    if operand != s.operands[-1] or _READS_ONLY.match(s.mnemonic):
        exchanged = s.mnemonic.startswith(("xchg", "xadd", "cmpxchg"))
        return READ | WRITE if exchanged else READ
    if _WRITES_ONLY.match(s.mnemonic):
        return WRITE
    if s.mnemonic.startswith("v") and len(s.operands) > 1:
        return WRITE
    return READ | WRITE


def _size(s: Statement, operand: str) -> int:
    size = rtl.memory_facts(s.rtl).size
    if size:
        return _power_of_two(size)
    others = [registers.size_of_register(o) for o in s.operands if o != operand]
    vector = max((size for size in others if size >= 16), default=0)
    if vector:
        scalar = _SCALAR.search(s.mnemonic)
        return vector if scalar is None else (8 if scalar[1] == "sd" else 4)
    if s.mnemonic.startswith(("movz", "movs")) and len(s.mnemonic) == 6:
        return _SUFFIX_BYTES.get(s.mnemonic[4], 8)
    return max(others, default=0) or _SUFFIX_BYTES.get(s.mnemonic[-1], 8)


def _power_of_two(size: int) -> int:
    return min(1 << (size - 1).bit_length(), 64)
