"""Finds the live registers before each instruction of a file.

The instrumentation may write a register that is not live without saving it. The method is data flow
over all statements, backwards, to the fixed point. One point differs from the calling convention:
GCC knows which registers a function of the same file preserves (`-fipa-ra`), so a function
certainly destroys only the registers that it writes itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.capture.assembly import registers
from autofinity.capture.assembly.registers import ALL, SAVED_BY_CALLEE, SAVED_BY_CALLER, VECTORS
from autofinity.capture.assembly.statements import Kind, Statement


class ControlFlow:
    """Successors of a file's statements, and the functions of the file."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = statements
        self.labels = {s.mnemonic: i for i, s in enumerate(statements) if s.kind is Kind.LABEL}
        self.function_of: list[str] = []
        """Name of the function that each statement is in, or the empty name."""
        functions = _functions(statements)
        here = ""
        for s in statements:
            if s.kind is Kind.LABEL and s.mnemonic in functions:
                here = s.mnemonic
            self.function_of.append(here)
        self.spoiled = self._spoiled(functions)
        """Function → registers that it certainly writes."""
        self._aliases = _aliases(statements)
        named = {self.target(s) for s in statements if s.mnemonic in ("call", "jmp")}
        self._called = named | {self._aliases.get(name, name) for name in named}

    def _spoiled(self, functions: set[str]) -> dict[str, int]:
        spoiled = dict.fromkeys(functions, 0)
        for s, function in zip(self.statements, self.function_of, strict=True):
            if function not in spoiled or s.kind is not Kind.INSTRUCTION:
                continue
            if s.mnemonic == "call" and self.target(s) not in functions:
                spoiled[function] |= SAVED_BY_CALLER
            else:
                spoiled[function] |= registers.may_write(s) & SAVED_BY_CALLER
        return spoiled

    def target(self, s: Statement) -> str:
        """Symbol that a jump or call names, or the empty name where the target is computed."""
        operand = s.operands[0] if s.operands else ""
        return "" if operand.startswith("*") else operand.split("@")[0]

    def spoils(self, s: Statement) -> int:
        """Registers that a call certainly changes."""
        name = self.target(s)
        name = self._aliases.get(name, name)
        return self.spoiled.get(name, SAVED_BY_CALLER)

    def spoiled_at_return(self, at: int) -> int:
        """Registers that no code expects to survive the function that the statement is in."""
        name = self.function_of[at]
        # Only callers by name know the function's code. Its cold part has a name of its own.
        if name and name.split(".cold")[0] not in self._called:
            return SAVED_BY_CALLER
        return self.spoiled.get(name, 0)


def _functions(statements: Sequence[Statement]) -> set[str]:
    found: set[str] = set()
    for s in statements:
        words = s.text.replace(",", " ").split()
        if words[:1] == [".type"] and words[-1] == "@function":
            found.add(words[1])
    return found


def _aliases(statements: Sequence[Statement]) -> dict[str, str]:
    found: dict[str, str] = {}
    for s in statements:
        words = s.text.replace(",", " ").split()
        if words[:1] == [".set"] and len(words) == 3:
            found[words[1]] = words[2]
    return found


def is_jump(s: Statement) -> bool:
    """Whether the instruction is a jump, conditional or not."""
    return s.kind is Kind.INSTRUCTION and s.mnemonic.startswith("j")


def needed_before(flow: ControlFlow) -> list[int]:
    """Set of live registers before each statement."""
    count = len(flow.statements)
    effects = [_effect(flow, i) for i in range(count)]
    needed = [0] * (count + 1)
    needed[count] = ALL
    changed = True
    while changed:
        changed = False
        for i in range(count - 1, -1, -1):
            used, kept, target, falls = effects[i]
            after = needed[i + 1] if falls else 0
            if target >= 0:
                after |= needed[target]
            before = used | (after & kept)
            if before != needed[i]:
                needed[i] = before
                changed = True
    return needed[:count]


def _effect(flow: ControlFlow, at: int) -> tuple[int, int, int, bool]:
    """(read, not written, statement jumped to or -1, whether the next statement follows)."""
    s = flow.statements[at]
    if s.kind is Kind.INLINE:
        return ALL, ALL, -1, True
    if s.kind is not Kind.INSTRUCTION:
        return 0, ALL, -1, True
    if s.mnemonic == "call":
        kept = ALL & ~flow.spoils(s)
        taken = (registers.ARGUMENTS & ~VECTORS) | registers.vectors_of_call(s.rtl)
        return taken | SAVED_BY_CALLEE | registers.reads(s), kept, -1, True
    if s.mnemonic == "ret":
        spoiled = flow.spoiled_at_return(at) & ~registers.RESULTS
        return ALL & ~spoiled & ~registers.FLAGS, 0, -1, False
    if s.mnemonic in ("ud2", "hlt"):
        return ALL, 0, -1, False
    if is_jump(s):
        target = flow.labels.get(flow.target(s), -1)
        if target < 0:
            return ALL, ALL, -1, s.mnemonic != "jmp"
        return registers.reads(s), ALL, target, s.mnemonic != "jmp"
    return registers.reads(s), ALL & ~registers.writes(s), -1, True
