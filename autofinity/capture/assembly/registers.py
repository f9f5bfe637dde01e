"""Registers that an x86-64 instruction reads and writes, as sets of bits.

A set is an integer: bit i is the i-th of `GENERAL`, then the arithmetic flags, then the vector
registers. Uncertain registers are on the safe side: read, and not written.
"""

from __future__ import annotations

import re
from functools import lru_cache

from autofinity.capture.assembly.statements import Kind, Statement

GENERAL = (
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
)  # fmt: skip
FLAGS = 1 << 16
_VECTOR = 17
ALL = (1 << (_VECTOR + 32)) - 1
VECTORS = ALL ^ ((1 << _VECTOR) - 1)


def bit(register: str) -> int:
    """The set of one 64-bit register."""
    return 1 << GENERAL.index(register)


def bits(*registers: str) -> int:
    """The set of some 64-bit registers."""
    return sum(bit(register) for register in registers)


SAVED_BY_CALLEE = bits("rbx", "rsp", "rbp", "r12", "r13", "r14", "r15")
SAVED_BY_CALLER = (ALL ^ SAVED_BY_CALLEE) | FLAGS
_ARGUMENT_VECTORS = 0xFF << _VECTOR
_RESULT_VECTORS = 0b11 << _VECTOR
ARGUMENTS = bits("rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax", "r10") | _ARGUMENT_VECTORS
RESULTS = bits("rax", "rdx") | _RESULT_VECTORS


def _names() -> dict[str, tuple[int, int]]:
    """Name → (set, size in bytes)."""
    names: dict[str, tuple[int, int]] = {}
    for i, full in enumerate(GENERAL):
        if i < 8:
            tail = full[1:]
            low = tail[0] + "l" if tail.endswith("x") else tail + "l"
            parts = {full: 8, "e" + tail: 4, tail: 2, low: 1}
            if tail.endswith("x"):
                parts[tail[0] + "h"] = 1
        else:
            parts = {full: 8, full + "d": 4, full + "w": 2, full + "b": 1}
        names.update({name: (1 << i, size) for name, size in parts.items()})
    for i in range(32):
        for kind, size in (("xmm", 16), ("ymm", 32), ("zmm", 64)):
            names[f"{kind}{i}"] = (1 << (_VECTOR + i), size)
    return names


_NAMES = _names()
_VECTOR_ARGUMENT = re.compile(r"\(reg(?:/\w)*:(\w+) \d+ xmm(\d+)")
_REGISTER = re.compile(r"%(\w+)")
# The destination is written whole, and not read unless it is a source as well.
_PURE = re.compile(
    r"^(?:mov(?:[lq]|absq?|z[bwl][lq]|zwl|s[bwl][lq]|slq)?|lea[lq]|pop[q]?"
    r"|v?cvtt?s[sd]2si[lq]?|v?mov[dq]|v?p?movmsk\w+|v?pextr[bwdq]|v?extractps"
    r"|(?:popcnt|lzcnt|tzcnt)[lq]?|(?:pext|pdep|andn|blsr|blsi|blsmsk|bzhi|bextr|shlx|sarx|shrx|rorx)[lq]?)$"
)
_PURE_VECTOR = re.compile(
    r"^v?(?:mov[au]p[sd]|movdq[au]|mov[dq]|movs[sd]|movddup|lddqu)$|^vbroadcast"
)
_ZEROING = re.compile(r"^(?:xor[lq]|sub[lq])$")
_ZEROING_VECTOR = re.compile(r"^v?(?:pxor|xorp[sd])$")
_READS_FLAGS = re.compile(
    r"^(?:j(?!mp|rcxz|ecxz)\w+|set\w+|cmov\w+|(?:adc|sbb|rcl|rcr|adcx|adox)[bwlq]?|lahf|pushf\w?|cmc|fcmov\w+)$"
)
_WRITES_FLAGS = re.compile(
    r"^(?:(?:add|sub|cmp|test|and|or|xor|neg|adc|sbb|imul|mul|popcnt|lzcnt|tzcnt|bsf|bsr|xadd|cmpxchg|"
    r"blsr|blsi|andn|bzhi|bextr)[bwlq]?|v?u?comis[sd]|v?ptest|vtestp[sd]|call)$"
)
_SHIFT = re.compile(r"^(?:sal|shl|sar|shr)[bwlq]$")
_ONLY_READS = re.compile(
    r"^(?:cmp|test|bt|push|mul|div|idiv|call|jmp|nop)[bwlq]?$|^v?u?comis[sd]$|^v?ptest|^vtestp|^j"
)
_ACCUMULATOR = re.compile(r"^(?:mul|div|idiv|imul)[bwlq]$")
_STRING = re.compile(r"^(?:movs|stos|scas|cmps|lods)[bwlq]$")
_KNOWN_BARE = {"cltq", "cwtl", "cltd", "cqto", "cwtd", "ret", "leave", "nop", "vzeroupper",
               "mfence", "lfence", "sfence", "pause", "endbr64", "cld", "emms"}  # fmt: skip


def vector_registers(registers: int) -> list[int]:
    """Numbers of the vector registers in a set."""
    return [i for i in range(32) if registers >> (_VECTOR + i) & 1]


def vectors_of_call(rtl: str) -> int:
    """Vector registers in which a call takes arguments, from GCC's RTL."""
    if "(use " not in rtl and "(nil)" not in rtl:
        return _ARGUMENT_VECTORS
    found = 0
    for mode, number in _VECTOR_ARGUMENT.findall(rtl):
        found |= (0b11 if "C" in mode else 0b1) << (_VECTOR + int(number))
    return found


@lru_cache(maxsize=100_000)
def named(operand: str) -> int:
    """Registers that an operand names."""
    found = 0
    for name in _REGISTER.findall(operand):
        found |= _NAMES.get(name, (0, 0))[0]
    return found


def size_of_register(operand: str) -> int:
    """Bytes of a register operand, 0 for any other."""
    return _NAMES.get(operand[1:], (0, 0))[1] if operand.startswith("%") else 0


def reads(s: Statement) -> int:
    """Registers and flags that the statement may read; for calls and returns see `liveness.py`."""
    if s.kind is Kind.INLINE:
        return ALL
    if s.kind is not Kind.INSTRUCTION:
        return 0
    name = s.mnemonic
    found = FLAGS if _READS_FLAGS.match(name) else 0
    if (s.prefixes and s.prefixes != ("lock",)) or (_STRING.match(name) and not s.operands):
        found |= bits("rax", "rcx", "rsi", "rdi")
    if not s.operands:
        if name not in _KNOWN_BARE:
            return ALL
        return found | {"leave": bit("rbp")}.get(name, bit("rax") | bit("rsp"))
    if _STRING.match(name) and len(s.operands) < 3:
        found |= bits("rax", "rcx", "rsi", "rdi")
    if _ACCUMULATOR.match(name) and len(s.operands) == 1:
        found |= bits("rax", "rdx")
    if name.startswith("cmpxchg"):
        found |= bits("rax", "rdx", "rbx", "rcx")
    if name.startswith("mulx"):
        found |= bit("rdx")
    for operand in s.operands[:-1]:
        found |= named(operand)
    last = s.operands[-1]
    if not (is_register(last) and _writes_purely(s)):
        found |= named(last)
    return found


def is_register(operand: str) -> bool:
    """Whether the operand is a register itself."""
    return operand.startswith("%") and ":" not in operand


def _zeroes(s: Statement) -> bool:
    same = len(set(s.operands)) == 1 and len(s.operands) > 1
    return same and bool(_ZEROING.match(s.mnemonic) or _ZEROING_VECTOR.match(s.mnemonic))


def _writes_purely(s: Statement) -> bool:
    last = s.operands[-1]
    size = size_of_register(last)
    if size in (4, 8):
        return bool(_PURE.match(s.mnemonic)) or (
            s.mnemonic.startswith("imul") and len(s.operands) == 3
        )
    if size >= 16:
        if s.mnemonic.startswith(("movs", "movq", "movd")) and is_register(s.operands[0]):
            return False  # the rest of the destination stays unchanged
        return bool(_PURE_VECTOR.match(s.mnemonic)) and len(s.operands) == 2
    return False


def writes(s: Statement) -> int:
    """Registers and flags that the statement certainly writes whole. Calls: `liveness.py`."""
    if s.kind is not Kind.INSTRUCTION:
        return 0
    name = s.mnemonic
    found = FLAGS if _WRITES_FLAGS.match(name) else 0
    if name in ("cqto", "cltd", "cwtd"):
        return bit("rdx")
    if not s.operands:
        return found
    if _SHIFT.match(name) and (len(s.operands) == 1 or s.operands[0].startswith("$")):
        found |= FLAGS
    if _writes_purely(s) or _zeroes(s):
        found |= named(s.operands[-1])
    return found


def may_write(s: Statement) -> int:
    """Registers that the statement writes at least in part."""
    if s.kind is Kind.INLINE:
        return ALL
    if s.kind is not Kind.INSTRUCTION:
        return 0
    found = 0
    if s.prefixes and s.prefixes != ("lock",):
        found |= bits("rcx", "rsi", "rdi", "rax")
    if not s.operands:
        fixed = {"cqto": "rdx", "cltd": "rdx", "cltq": "rax", "cwtl": "rax"}
        return found | (bit(fixed[s.mnemonic]) if s.mnemonic in fixed else 0)
    if _ACCUMULATOR.match(s.mnemonic) and len(s.operands) == 1:
        return found | bits("rax", "rdx")
    if s.mnemonic.startswith("cmpxchg"):
        found |= bits("rax", "rdx")
    exchanging = s.mnemonic.startswith(("xchg", "xadd", "mulx"))
    for operand in s.operands if exchanging else s.operands[-1:]:
        if is_register(operand) and not _ONLY_READS.match(s.mnemonic):
            found |= named(operand)
    return found
