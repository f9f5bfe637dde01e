"""Instruments a file of assembly: every block reports its accesses and its instructions.

A block runs from one label, jump or call to the next. Addresses are kept as they come, and reported
once, before the block's last instruction or wherever that costs least. Two operands that differ
only in a constant are kept once. The program's own instructions stay unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from autofinity.capture.assembly import registers
from autofinity.capture.assembly.accesses import (
    POINTER,
    READ,
    WRITE,
    Access,
    Address,
    accesses_of,
)
from autofinity.capture.assembly.events import ATOMIC, LOAD, Event, events_of
from autofinity.capture.assembly.hooks import SLOTS, Entry, Hooks
from autofinity.capture.assembly.liveness import ControlFlow, is_jump, needed_before
from autofinity.capture.assembly.registers import FLAGS, bit
from autofinity.capture.assembly.statements import Kind, Statement, split_statements
from autofinity.capture.library_calls import CALL_COSTS, JUMP, Cost

_MOST_ENTRIES = 200
_MOST_INSTRUCTIONS = 60_000


def instrument(text: str, shared: bool = False) -> str:
    """The file with the hooks in it. Raises `AssemblyError` for assembly that is not understood.

    `shared`: the file is compiled for a shared object (`-fPIC`).
    """
    statements = split_statements(text)
    flow = ControlFlow(statements)
    file = _File(
        statements,
        needed_before(flow),
        events_of(statements),
        _red_zones(flow),
        _frames(flow),
        _pinned(statements),
        frozenset(flow.labels),
        Hooks(shared, _widest(text)),
    )
    for first, last in _blocks(statements):
        _Block(file, first, last).instrument()
    lines: list[str] = []
    for s in statements:
        lines += s.before
        if s.kind is not Kind.BLOCKAGE:
            lines.append(s.text)
        lines += s.after
    return "\n".join([*lines, *file.hooks.definitions(), ""])


def _widest(text: str) -> int:
    """Bytes of the widest vector register that is named."""
    return 64 if "%zmm" in text or "%k" in text else 32 if "%ymm" in text else 16


@dataclass(frozen=True, slots=True)
class _File:
    statements: list[Statement]
    needed: list[int]
    events: dict[int, Event]
    red_zones: list[bool]
    """Whether something may be kept below the stack pointer, for each statement."""
    frames: list[bool]
    """Whether `rbp` points into the stack, for each statement."""
    pinned: set[int]
    """Statements that the linker requires directly behind the one before."""
    defined: frozenset[str]
    """Labels of the file."""
    hooks: Hooks

    def library_cost(self, s: Statement) -> Cost:
        """Cost of a call of another object's function, besides the call itself."""
        name, _, how = s.operands[0].partition("@")
        if how != "PLT" or name in self.defined:
            return Cost(0, 0, 0)
        return CALL_COSTS.get(name, JUMP)


def _blocks(statements: list[Statement]) -> Iterator[tuple[int, int]]:
    """First and last statement of each block."""
    first = 0
    for i, s in enumerate(statements):
        if s.kind in (Kind.LABEL, Kind.INLINE):
            yield first, i - 1
            first = i + 1
            if s.kind is Kind.INLINE:
                yield i, i
        elif is_jump(s) or s.mnemonic in ("call", "ret", "ud2"):
            yield first, i
            first = i + 1
    yield first, len(statements) - 1


def _red_zones(flow: ControlFlow) -> list[bool]:
    """Whether data below the stack pointer is in use: functions that call no other may use it."""
    calls: set[str] = set()
    mentions: set[str] = set()
    for s, function in zip(flow.statements, flow.function_of, strict=True):
        if s.kind is Kind.INLINE:
            mentions.add(function)
        if s.kind is not Kind.INSTRUCTION:
            continue
        if s.mnemonic == "call":
            calls.add(function)
        if any("%rsp" in operand for operand in s.operands):
            mentions.add(function)
    return [name in mentions and name not in calls for name in flow.function_of]


def _frames(flow: ControlFlow) -> list[bool]:
    framed = {
        function
        for s, function in zip(flow.statements, flow.function_of, strict=True)
        if s.mnemonic == "movq" and s.operands == ("%rsp", "%rbp")
    }
    return [name in framed for name in flow.function_of]


def _pinned(statements: list[Statement]) -> set[int]:
    """The remaining statements of a sequence that finds a thread's variable: the linker replaces
    the sequence as a whole.
    """
    found: set[int] = set()
    inside = False
    for i, s in enumerate(statements):
        if inside:
            found.add(i)
        if any(word in s.text for word in ("@tlsgd", "@tlsld", "@tlsdesc")):
            inside = True
        elif s.mnemonic == "call":
            inside = False
    return found


@dataclass(slots=True)
class _Kept:
    slot: int
    offset: int


@dataclass(slots=True)
class _Block:
    file: _File
    first: int
    last: int
    entries: list[Entry] = field(default_factory=list)
    kept: dict[tuple[str, ...], _Kept] = field(default_factory=dict)
    slots: int = 0
    instructions: int = 0
    recorded_at: int = -1
    """The last statement before which addresses were kept."""
    depth: int = 0
    """Bytes by which the stack has grown since the block began."""

    def instrument(self) -> None:
        for i in range(self.first, self.last + 1):
            s = self.file.statements[i]
            if i in self.file.events:
                self._event(i, self.file.events[i])
            elif s.kind is Kind.INLINE:
                self.instructions += _lines_of_code(s.text)
                self._tell(i, i)
                return
            elif s.kind is Kind.INSTRUCTION:
                self._plain(i, s)
        self._tell(max(self.first, self.recorded_at), self.last)

    def _plain(self, at: int, s: Statement) -> None:
        full = self.slots >= SLOTS - 2 or len(self.entries) >= _MOST_ENTRIES
        if (full or self.instructions >= _MOST_INSTRUCTIONS) and at not in self.file.pinned:
            self._tell(at, at)
        self.instructions += 1
        for access in accesses_of(s):
            if at not in self.file.pinned and _can_be_kept(access.address):
                self._access(at, access)
        if s.mnemonic in ("call", "jmp") and at not in self.file.pinned:
            self._library(at, self.file.library_cost(s))
        self._after(s)

    def _access(self, at: int, access: Access, loads: int = 0, stores: int = 0) -> None:
        """Add an access; `loads` and `stores` are its numbers, where they are not one."""
        address = access.address
        key = (address.segment, address.symbol, address.base, address.index, address.scale)
        offset = address.offset - (self.depth if address.base == "rsp" else 0)
        if key not in self.kept:
            self.kept[key] = _Kept(self._keep(at, address), offset)
        kept = self.kept[key]
        delta = offset - kept.offset
        neutral = _is_neutral(address, self.file.frames[at])
        self.entries.append(
            Entry(
                kept.slot,
                delta,
                self.instructions,
                access.size,
                loads or int(bool(access.how & READ)),
                stores or int(bool(access.how & WRITE)),
                bool(access.how & POINTER),
                neutral,
            )
        )

    def _library(self, at: int, cost: Cost) -> None:
        """Add the cost of a library call; its loads and stores are assumed to be on the stack."""
        self.instructions += cost.instructions
        if cost.loads or cost.stores:
            below = Address("", "", -16, "rsp", "", "")
            self._access(at, Access(below, 8, 0), cost.loads, cost.stores)

    def _keep(self, at: int, address: Address) -> int:
        file = self.file
        lines = file.hooks.keep(address, self.slots, file.needed[at], file.red_zones[at])
        file.statements[at].before += lines
        self.recorded_at = at
        self.slots += 1
        return self.slots - 1

    def _after(self, s: Statement) -> None:
        """Forget kept addresses that are made of registers that the instruction writes."""
        written = registers.may_write(s)
        grown = _growth(s)
        if grown is not None:
            self.depth += grown
            written &= ~bit("rsp")
        elif s.mnemonic == "leave":
            written |= bit("rsp") | bit("rbp")
        if written:
            for key in [k for k in self.kept if registers.named(f"%{k[2]} %{k[3]}") & written]:
                del self.kept[key]

    def _event(self, at: int, event: Event) -> None:
        s = self.file.statements[at]
        needed, red_zone = self.file.needed[at], self.file.red_zones[at]
        self.instructions += s.kind is Kind.INSTRUCTION
        if event.address is not None and not _can_be_kept(event.address):
            return
        slot = self._keep(at, event.address) if event.address is not None else 0
        for register, is_mask in ((event.index, False), (event.mask, True)):
            if register:
                s.before += self.file.hooks.keep_vector(register, is_mask, needed, red_zone)
        follows = at + 1 < len(self.file.needed)
        after = self.file.needed[at + 1] if follows else registers.ALL
        if event.kind == LOAD:  # its hook gets the loaded value
            s.after += self.file.hooks.tell(
                self.entries, self.instructions, after, red_zone, event, slot
            )
        else:
            s.before += self.file.hooks.tell(
                self.entries, self.instructions, needed, red_zone, event, slot
            )
        if event.kind in ATOMIC:
            s.after += self.file.hooks.end_atomic(after, red_zone)
        self._forget(at + 1)

    def _tell(self, first: int, last: int) -> None:
        """Report all kept accesses, before one of the statements from `first` to `last`."""
        if self.instructions == 0:
            return
        file = self.file
        candidates = [
            i
            for i in range(first, last + 1)
            if i not in file.pinned and file.statements[i].kind in (Kind.INSTRUCTION, Kind.INLINE)
        ]
        if not candidates:
            candidates = [last]
        at = min(candidates, key=lambda i: (_cost(file.needed[i]), -i))
        needed, red_zone = file.needed[at], file.red_zones[at]
        if self.entries:
            lines = file.hooks.tell(self.entries, self.instructions, needed, red_zone)
        else:
            lines = file.hooks.count(self.instructions, needed, red_zone)
        file.statements[at].before += lines
        self._forget(at)

    def _forget(self, first: int) -> None:
        self.first = first
        self.entries = []
        self.kept = {}
        self.slots = self.instructions = 0


def _cost(needed: int) -> int:
    return 2 * bool(needed & FLAGS) + bool(needed & bit("rax"))


def _is_neutral(address: Address, framed: bool) -> bool:
    if address.segment:
        return not address.symbol
    on_stack = address.base == "rsp" or (framed and address.base == "rbp")
    constant = address.symbol.startswith(".LC") or address.symbol.endswith("@GOTPCREL")
    return not address.index and (on_stack or constant)


def _can_be_kept(address: Address) -> bool:
    if address.segment == "gs" or address.is_gathered:
        return False
    # Other relocations matter only to the linker, which knows the instructions they may be in.
    return "@" not in address.symbol or address.symbol.endswith(("@GOTPCREL", "@tpoff"))


def _growth(s: Statement) -> int | None:
    """Bytes that the instruction adds to the stack; None where it has another effect on the
    stack.
    """
    if s.mnemonic.startswith("push"):
        return 8
    if s.mnemonic in ("pop", "popq"):
        return -8
    if s.mnemonic in ("subq", "addq") and s.operands[-1] == "%rsp" and s.operands[0][0] == "$":
        value = int(s.operands[0][1:], 0)
        return value if s.mnemonic == "subq" else -value
    return None


def _lines_of_code(text: str) -> int:
    lines = (part.strip() for line in text.splitlines() for part in line.split(";"))
    return sum(bool(p) and not p.startswith(("#", ".")) and not p.endswith(":") for p in lines)
