"""Number of instructions that each block of an instrumented program stands for.

With `-fsanitize-coverage=trace-pc` every block begins with a call of `__sanitizer_cov_trace_pc`.
The runtime looks up the return address of the call in a table, one for each built program. The
table is made here from `objdump -d`: it counts the instructions from the address to the next such
call, without those that the instrumentation added. So the count is that of the code as compiled
(scalar: instrumented code does not vectorise). Library functions that the program calls are not
instrumented; `library_calls.py` has their counts.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from array import array
from dataclasses import dataclass
from pathlib import Path

from autofinity.capture.elf import read_elf
from autofinity.capture.library_calls import CALL_COSTS

MAGIC = 0x314B434F4C424641
_HOOK = "__sanitizer_cov_trace_pc"
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class _Instruction:
    address: int
    mnemonic: str
    operands: str
    callee: str
    """Function called, without version or `@plt`; empty otherwise."""
    target: int | None
    """Target of a direct jump."""


_LINE = re.compile(r"^\s*([0-9a-f]+):\t(\S+)\s*(.*)$")
_TARGET = re.compile(r"^([0-9a-f]+) <([^>+@]+)(?:@[^>+]*)?(\+0x[0-9a-f]+)?>")
_PREFIXES = ("lock", "rep", "repz", "repnz", "notrack", "bnd", "data16")
_ARGUMENTS = re.compile(r"%(?:[er]di|[er]si|[er]dx|[er]cx|r8d?|r9d?)$|^x[0-4],")


def block_table(binary: Path) -> bytes | None:
    """The table for the runtime, or None without objdump or without blocks to count."""
    objdump = shutil.which("objdump")
    if objdump is None:
        return None
    done = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", "--section=.text", str(binary)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    counts = count_blocks(done.stdout) if done.returncode == 0 else {}
    if not counts:
        return None
    low = min(counts)
    table = array("H", bytes(2 * (max(counts) - low + 1)))
    for address, count in counts.items():
        table[address - low] = min(count, 0xFFFF)
    return struct.pack("<QQQ", MAGIC, low, len(table)) + table.tobytes()


def write_block_tables(programs: Path, tables: Path) -> None:
    """Write a table for each program below `programs` that has such calls.

    The table's name is the program's relative path with % for /, as the runtime looks for it.
    Without any table the folder is not made.
    """
    for path in sorted(programs.rglob("*")):
        elf = read_elf(path) if path.is_file() else None
        if elf is None or _HOOK not in elf.imports:
            continue
        table = block_table(path)
        if table is not None:
            tables.mkdir(exist_ok=True)
            name = os.fsencode(path.relative_to(programs)).replace(b"/", b"%")
            (tables / os.fsdecode(name)).write_bytes(table)


def count_blocks(disassembly: str) -> dict[int, int]:
    """Return address of each call of the hook → instructions of its block."""
    code = [found for line in disassembly.splitlines() if (found := _parse(line)) is not None]
    index = {instruction.address: i for i, instruction in enumerate(code)}
    return {
        code[i + 1].address: _count(code, index, i + 1)
        for i, instruction in enumerate(code[:-1])
        if instruction.callee == _HOOK
    }


def _parse(line: str) -> _Instruction | None:
    match = _LINE.match(line)
    if match is None:
        return None
    address, mnemonic, operands = int(match[1], 16), match[2], match[3].split("#")[0].strip()
    if mnemonic in _PREFIXES and operands:
        mnemonic, _, operands = operands.partition(" ")
        operands = operands.strip()
    callee, target = "", None
    jump = _TARGET.match(operands)
    if jump is not None and (mnemonic.startswith(("call", "j")) or mnemonic in ("b", "bl")):
        target = int(jump[1], 16)
        if (mnemonic.startswith("call") or mnemonic == "bl") and jump[3] is None:
            callee = jump[2]
    return _Instruction(address, mnemonic, operands, callee, target)


def _count(code: list[_Instruction], index: dict[int, int], at: int) -> int:
    """Instructions from `code[at]` to the next block; jumps that are always taken are followed."""
    counted: list[_Instruction] = []
    extra = 0
    seen: set[int] = set()
    while at < len(code) and at not in seen and len(seen) < _LONGEST:
        seen.add(at)
        here = code[at]
        at += 1
        if here.callee == _HOOK:
            break
        if here.mnemonic.startswith(("nop", "endbr", "xchg")) and "%ax,%ax" in here.operands:
            continue
        if here.mnemonic.startswith(("nop", "endbr")):
            continue
        if here.callee.startswith("__tsan_"):
            extra += _uninstrument(here.callee, counted)
            continue
        counted.append(here)
        if here.callee in CALL_COSTS:
            extra += CALL_COSTS[here.callee].instructions
        if here.mnemonic.startswith("ret"):
            break
        if here.mnemonic in ("jmp", "b"):
            following = index.get(here.target) if here.target is not None else None
            if following is None:
                break
            at = following
    return max(1, len(counted) + extra)


def _uninstrument(callee: str, counted: list[_Instruction]) -> int:
    """Remove the arguments of a call that the instrumentation added; an atomic counts as one
    instruction itself.
    """
    if callee in ("__tsan_func_exit", "__tsan_init"):
        return 0
    atomic = callee.startswith("__tsan_atomic")
    room = 4 if atomic else 2 if "range" in callee else 1
    while room > 0 and counted and _ARGUMENTS.search(counted[-1].operands):
        counted.pop()
        room -= 1
    return 1 if atomic else 0
