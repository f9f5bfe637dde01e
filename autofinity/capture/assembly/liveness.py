"""Which registers hold something that is needed, before each instruction of a file.

A register that is not needed may be written by the instrumentation without being saved. Data flow
over all statements, backwards, to the fixed point. Two things are not as the calling convention has
them: GCC knows of a function of the same file which registers it leaves alone (`-fipa-ra`), so a
function spoils for sure only what it writes itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.capture.assembly import registers
from autofinity.capture.assembly.registers import ALL, SAVED_BY_CALLEE, SAVED_BY_CALLER, VECTORS
from autofinity.capture.assembly.statements import Kind, Statement


class ControlFlow:
    """Where a file's statements lead, and which functions it has."""

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
        """Function → registers that it writes for sure."""
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
        """Symbol that a jump or call names, or the empty name where it is computed."""
        operand = s.operands[0] if s.operands else ""
        return "" if operand.startswith("*") else operand.split("@")[0]

    def spoils(self, s: Statement) -> int:
        """Registers that are no longer what they were after a call, for sure."""
        name = self.target(s)
        name = self._aliases.get(name, name)
        return self.spoiled.get(name, SAVED_BY_CALLER)

    def spoiled_at_return(self, at: int) -> int:
        """What nobody expects to survive the function that the statement is in."""
        name = self.function_of[at]
        # Only what calls it by name knows its code. Its cold part has a name of its own.
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
    """Whether the instruction jumps, be it on a condition."""
    return s.kind is Kind.INSTRUCTION and s.mnemonic.startswith("j")


def ends_flow(s: Statement) -> bool:
    """Whether nothing follows the instruction in line."""
    return s.kind is Kind.INSTRUCTION and s.mnemonic in ("jmp", "ret", "ud2", "hlt")


def needed_before(flow: ControlFlow) -> list[int]:
    """For each statement the set of what is needed before it."""
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
    """(read, not written, statement jumped to or -1, whether the next one follows)."""
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
