"""Plain variables by which threads signal each other, recognised by the fences beside them.

    x = 1;                              while (!ready) {
    #pragma omp flush                   #pragma omp flush
    ready = 1;                          }
    #pragma omp flush                   use(x);

Such a variable is not declared `volatile`, but acts as one: loads and stores a few instructions
before or after a fence are ordered as if the variable were volatile. Loops without a fence are
work, so the search does not enter them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from autofinity.capture.assembly.accesses import WRITE, Access, accesses_of, is_string_operation
from autofinity.capture.assembly.liveness import is_jump
from autofinity.capture.assembly.statements import Kind, Statement

_NEAR = 4
"""Number of loads and stores on either side of a fence that may be of a flag."""
_FAR = 64
"""Number of statements that are examined."""
_VECTOR = re.compile(r"%[xyz]mm")


def flags_beside(statements: Sequence[Statement], fences: Sequence[int]) -> dict[int, Access]:
    """Statement → its access, for statements that load or store a flag beside one of the fences."""
    found: dict[int, Access] = {}
    labels = {s.mnemonic: i for i, s in enumerate(statements) if s.kind is Kind.LABEL}
    ends = _ends_of_loops(statements, labels)
    for fence in fences:
        for walk in (_after, _before):
            flags = (
                (at, access)
                for at in walk(statements, labels, ends, fence)
                if (access := _of_a_flag(statements[at])) is not None
            )
            found.update(islice(flags, _NEAR))
    return found


def _ends_of_loops(statements: Sequence[Statement], labels: dict[str, int]) -> dict[int, int]:
    """Label that a later statement jumps to → the last such statement."""
    ends: dict[int, int] = {}
    for i, s in enumerate(statements):
        target = _target(s, labels)
        if target is not None and target < i:
            ends[target] = i
    return ends


def _target(s: Statement, labels: dict[str, int]) -> int | None:
    return labels.get(s.operands[0]) if is_jump(s) and s.operands else None


def _after(
    statements: Sequence[Statement], labels: dict[str, int], ends: dict[int, int], fence: int
) -> Iterator[int]:
    """Statements that come after the fence, except other loops and calls."""
    at, followed = fence + 1, False
    for _ in range(_FAR):
        if at >= len(statements) or at == fence:
            return
        s = statements[at]
        if s.kind is Kind.INLINE or s.mnemonic in ("call", "ret", "ud2"):
            return
        if at in ends and not at < fence < ends[at]:
            return
        if s.mnemonic == "jmp":
            target = _target(s, labels)
            if target is None or followed:
                return
            at, followed = target, True
            continue
        yield at
        at += 1


def _before(
    statements: Sequence[Statement], labels: dict[str, int], ends: dict[int, int], fence: int
) -> Iterator[int]:
    """Statements that come before the fence in line."""
    for at in range(fence - 1, max(-1, fence - 1 - _FAR), -1):
        s = statements[at]
        if s.kind is Kind.INLINE or s.mnemonic in ("call", "ret", "ud2", "jmp"):
            return
        target = _target(s, labels)
        if target is not None and target < at and not target < fence < ends[target]:
            return
        yield at


def _of_a_flag(s: Statement) -> Access | None:
    """A load or a store of a whole number that is not on the stack; else None."""
    if s.kind is not Kind.INSTRUCTION or s.prefixes or is_string_operation(s):
        return None
    if s.mnemonic.startswith(("push", "pop", "call", "j", "lea", "xchg")):
        return None
    if any(_VECTOR.search(operand) for operand in s.operands):
        return None
    accesses = accesses_of(s)
    if len(accesses) != 1 or accesses[0].size > 8:
        return None
    address = accesses[0].address
    if address.segment or address.base in ("rsp", "rbp") or address.symbol.startswith(".LC"):
        return None
    if "@" in address.symbol and not accesses[0].how & WRITE:
        return None  # an address out of the global offset table
    return accesses[0]
