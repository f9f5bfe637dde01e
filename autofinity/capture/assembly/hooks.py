"""The code between a program's instructions, and the tables that it passes to the runtime.

    lea  8(%rdi,%rcx), %r11             an address that the block touches, kept in the thread's own
    mov  %r11, %fs:__af_seen@tpoff+8    memory; no flag changes, no stack is needed
    …
    lea  .Lafd3(%rip), %rax             once a block: its accesses and its instructions
    call *__af_block@GOTPCREL(%rip)

Live registers are saved. The runtime's side is native/capture/interpose/hooks.c.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from autofinity.capture.assembly.accesses import Address
from autofinity.capture.assembly.events import NONE, Event
from autofinity.capture.assembly.registers import FLAGS, bit, vector_registers

SLOTS = 62
"""Number of addresses that a thread keeps until they are reported."""
_INDEX_AT, _MASK_AT, _SEEN_BYTES = 512, 576, 640
_RED_ZONE = 128
_SCRATCH = ("r11", "r10", "r9", "r8", "rdi", "rsi", "rcx", "rdx", "rax", "rbx", "rbp",
            "r12", "r13", "r14", "r15")  # fmt: skip
_RUNTIMES = "__af_seen_shared@gottpoff(%rip)"
"""Place of the runtime's own data in a thread's memory, which code of shared objects uses."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Accesses of a block: `delta` bytes from a kept address, after `offset` of its
    instructions.
    """

    slot: int
    delta: int
    offset: int
    size: int
    loads: int
    stores: int
    pointer: bool = False
    """Whether the loaded value may be an address."""
    neutral: bool = False
    """Whether the access is to a word of the stack or a constant: a loop with no other access may
    be waiting."""

    def words(self) -> str:
        """The entry as in the table: i32, three u16, three u8, three bytes of padding."""
        return (
            f"\t.long {self.delta}\n\t.value {self.loads}, {self.stores}, {self.offset}\n"
            f"\t.byte {self.slot}, {self.size}, {int(self.pointer)}, 0, 0, 0"
        )


@dataclass(slots=True)
class Hooks:
    """Generates the code for one file."""

    shared: bool
    """Whether the file is for a shared object: then the global offset table gives the thread's
    memory."""
    widest: int = 16
    """Bytes of the widest vector register that the file names."""
    tables: list[str] = field(default_factory=list)

    def keep(self, address: Address, slot: int, needed: int, red_zone: bool) -> list[str]:
        """Code that keeps an address."""
        if address.segment and address.base and address.index:
            count = 2
        else:
            count = 1
        taken, prologue, epilogue, moved = self._scratch(count + self.shared, needed, red_zone)
        first, last = taken[0], taken[-1]
        lines = [*prologue, *_load_address(address, first, last, moved)]
        lines += self._store(first, 8 + 8 * slot, last)
        return [*lines, *epilogue]

    def keep_vector(self, register: str, is_mask: bool, needed: int, red_zone: bool) -> list[str]:
        """Code that keeps the index or the mask of a gather."""
        at = _MASK_AT if is_mask else _INDEX_AT
        move = "vmovdqu64" if register.startswith("%zmm") else "vmovdqu"
        if not self.shared:
            return [f"\t{move}\t{register}, %fs:__af_seen@tpoff+{at}"]
        taken, prologue, epilogue, _ = self._scratch(1, needed, red_zone)
        found = f"\tmovq\t{_RUNTIMES}, %{taken[0]}"
        return [*prologue, found, f"\t{move}\t{register}, %fs:{at}(%{taken[0]})", *epilogue]

    def count(self, instructions: int, needed: int, red_zone: bool) -> list[str]:
        """Code that only counts instructions, for a block without accesses."""
        if not needed & FLAGS and not self.shared:
            return [f"\taddq\t${instructions}, %fs:__af_seen@tpoff"]
        taken, prologue, epilogue, _ = self._scratch(1 + self.shared, needed, red_zone)
        first, last = taken[0], taken[-1]
        place = f"%fs:(%{last})" if self.shared else "%fs:__af_seen@tpoff"
        lines = list(prologue)
        if self.shared:
            lines.append(f"\tmovq\t{_RUNTIMES}, %{last}")
        lines += [
            f"\tmovq\t{place}, %{first}",
            f"\tleaq\t{instructions}(%{first}), %{first}",
            f"\tmovq\t%{first}, {place}",
        ]
        return [*lines, *epilogue]

    def tell(
        self,
        entries: list[Entry],
        instructions: int,
        needed: int,
        red_zone: bool,
        event: Event | None = None,
        slot: int = 0,
    ) -> list[str]:
        """Code that reports a block to the runtime."""
        label = self._table(entries, instructions, event or Event(NONE), slot)
        save = event is not None or bool(needed & bit("rax"))
        hook = "__af_block"
        if event is not None:
            hook = "__af_event"
        elif needed & FLAGS:
            hook = "__af_block_flags"
        lines = [f"\tleaq\t{label}(%rip), %rax", f"\tcall\t*{hook}@GOTPCREL(%rip)"]
        if save:
            lines = ["\tpushq\t%rax", *lines, "\tpopq\t%rax"]
        if event is not None:
            lines = self._keeping_vectors(lines, hook, needed)
        return _beyond_red_zone(lines, red_zone)

    def end_atomic(self, needed: int, red_zone: bool) -> list[str]:
        """Code after an atomic instruction."""
        hook = "__af_event_end"
        lines = self._keeping_vectors([f"\tcall\t*{hook}@GOTPCREL(%rip)"], hook, needed)
        return _beyond_red_zone(lines, red_zone)

    def _keeping_vectors(self, lines: list[str], hook: str, needed: int) -> list[str]:
        """The code that calls the hook, with the live vector registers saved around it.

        With too many registers to save, it calls the variety of the hook that saves all.
        """
        saved = [n for n in vector_registers(needed) if n < 16 or self.widest == 64]
        if saved and self.widest == 64:  # and the mask registers that come with them
            return [line.replace(f"{hook}@", f"{hook}_all@") for line in lines]
        if not saved:
            return lines
        name, move = ("ymm", "vmovups") if self.widest == 32 else ("xmm", "movups")
        room = self.widest * len(saved)
        places = [(f"%{name}{n}", f"{self.widest * i}(%rsp)") for i, n in enumerate(saved)]
        before = [f"\t{move}\t{register}, {place}" for register, place in places]
        after = [f"\t{move}\t{place}, {register}" for register, place in places]
        down, up = f"\tleaq\t-{room}(%rsp), %rsp", f"\tleaq\t{room}(%rsp), %rsp"
        return [down, *before, *lines, *after, up]

    def definitions(self) -> list[str]:
        """Lines for the end of the file: the tables, and the thread's memory."""
        tables = ["\t.section .rodata", "\t.align 8", *self.tables]
        if self.shared:
            return tables
        return [
            *tables,
            '\t.section .tbss.__af_seen,"awTG",@nobits,__af_seen,comdat',
            "\t.align 64",
            "\t.weak __af_seen",
            "\t.hidden __af_seen",
            "\t.type __af_seen, @object",
            f"\t.size __af_seen, {_SEEN_BYTES}",
            "__af_seen:",
            f"\t.zero {_SEEN_BYTES}",
        ]

    def _table(self, entries: list[Entry], instructions: int, event: Event, slot: int) -> str:
        label = f".Lafd{len(self.tables)}"
        neutral = all(entry.neutral for entry in entries)
        head = (
            f"\t.quad {'0' if self.shared else '__af_seen@tpoff'}\n"
            f"\t.value {len(entries)}, {instructions}\n"
            f"\t.byte {event.kind}, {event.size}, {event.order}, {slot}\n"
            f"\t.byte {event.lanes}, {event.index_bytes}, {int(bool(event.mask))}, {int(neutral)}, "
            f"{int(self.shared)}, 0, 0, 0"
        )
        self.tables.append("\n".join([f"{label}:", head, *(entry.words() for entry in entries)]))
        return label

    def _store(self, register: str, at: int, spare: str) -> list[str]:
        if not self.shared:
            return [f"\tmovq\t%{register}, %fs:__af_seen@tpoff+{at}"]
        return [
            f"\tmovq\t{_RUNTIMES}, %{spare}",
            f"\tmovq\t%{register}, %fs:{at}(%{spare})",
        ]

    def _scratch(
        self, count: int, needed: int, red_zone: bool
    ) -> tuple[list[str], list[str], list[str], int]:
        """Registers to write, code before and after, and the change of the stack pointer by that
        code.
        """
        free = [name for name in _SCRATCH if not needed & bit(name)][:count]
        saved = [name for name in _SCRATCH if name not in free][: count - len(free)]
        if not saved:
            return free, [], [], 0
        before = [f"\tpushq\t%{name}" for name in saved]
        after = [f"\tpopq\t%{name}" for name in reversed(saved)]
        moved = 8 * len(saved)
        if red_zone:
            before.insert(0, f"\tleaq\t-{_RED_ZONE}(%rsp), %rsp")
            after.append(f"\tleaq\t{_RED_ZONE}(%rsp), %rsp")
            moved += _RED_ZONE
        return free + saved, before, after, moved


def _beyond_red_zone(lines: list[str], red_zone: bool) -> list[str]:
    if not red_zone:
        return lines
    return [f"\tleaq\t-{_RED_ZONE}(%rsp), %rsp", *lines, f"\tleaq\t{_RED_ZONE}(%rsp), %rsp"]


def _load_address(address: Address, register: str, spare: str, moved: int) -> list[str]:
    if not address.segment:
        return [f"\tleaq\t{address.text(moved)}, %{register}"]
    begin = "%fs:0"  # holds its own address
    other = address.index or address.base
    # Where the register was live only for the address, it is free from here on.
    if (address.base and address.index) or register == other:
        return [
            f"\tleaq\t{address.text(moved)}, %{register}",
            f"\tmovq\t{begin}, %{spare}",
            f"\tleaq\t(%{register},%{spare}), %{register}",
        ]
    scale = address.scale or "1"
    inner = f"(%{register},%{other},{scale})" if other else f"(%{register})"
    outer = Address("", address.symbol, address.offset, "", "", "").text()
    return [f"\tmovq\t{begin}, %{register}", f"\tleaq\t{outer}{inner}, %{register}"]
