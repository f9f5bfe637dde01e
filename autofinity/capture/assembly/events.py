"""Instructions that order threads or touch memory in another way than loads and stores do.

Each such instruction is reported to the runtime by itself: atomic and `volatile` accesses, fences
and the flags beside them, string operations and gathers. The numbers are those of
autofinity/native/capture/interpose/hooks.h.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autofinity.capture.assembly import registers, rtl
from autofinity.capture.assembly.accesses import (
    WRITE,
    Access,
    Address,
    accesses_of,
    is_string_operation,
    string_bytes,
)
from autofinity.capture.assembly.flags import flags_beside
from autofinity.capture.assembly.statements import Kind, Statement

NONE, VOLATILE_READ, VOLATILE_WRITE, LOAD, STORE, CHANGE, EXCHANGE, COMPARE_EXCHANGE, FENCE = range(
    9
)
COPY, FILL, SCAN, COMPARE, GATHER, SCATTER = range(9, 15)
ATOMIC = (STORE, CHANGE, EXCHANGE, COMPARE_EXCHANGE)
"""Events that run while the runtime holds their address."""
_ACQUIRE_AND_RELEASE = 4
_WINDOW = 40
_GATHER = re.compile(r"^v(p?)(gather|scatter)([dq])(ps|pd|d|q)$")
_STRING = {"movs": COPY, "stos": FILL, "scas": SCAN, "lods": SCAN, "cmps": COMPARE}


@dataclass(frozen=True, slots=True)
class Event:
    """Report on one instruction to the runtime."""

    kind: int
    size: int = 0
    """Bytes of the access, of a lane, or of an element of a string."""
    order: int = rtl.SEQUENTIALLY_CONSISTENT
    """Memory order of an atomic; 1 where a string operation is repeated `rcx` times; scale of a
    gather."""
    lanes: int = 0
    index_bytes: int = 0
    address: Address | None = None
    """Address; for a gather the address without its index; None where registers hold it."""
    index: str = ""
    mask: str = ""
    """Vector registers of a gather."""


def events_of(statements: Sequence[Statement]) -> dict[int, Event]:
    """Statement → its event, for the statements that have one."""
    found: dict[int, Event] = {}
    positions: dict[int, str] = {}
    for i, s in enumerate(statements):
        event = _event(s)
        if event is not None:
            found[i] = event
            positions[i] = rtl.position(s.rtl)
    for i, s in enumerate(statements):
        if s.kind is Kind.BLOCKAGE:
            _settle_blockage(i, s, found, positions)
    fences = [i for i, event in found.items() if event.kind == FENCE]
    for i, access in flags_beside(statements, fences).items():
        kind = VOLATILE_WRITE if access.how & WRITE else VOLATILE_READ
        found.setdefault(i, Event(kind, access.size, address=access.address))
    return found


def _settle_blockage(
    at: int, s: Statement, found: dict[int, Event], positions: Mapping[int, str]
) -> None:
    """Assign a blockage to the atomic that was made from the same position; otherwise it is a
    fence.
    """
    place = rtl.position(s.rtl)
    near = [i for i in range(at - _WINDOW, at + _WINDOW) if positions.get(i) == place]
    before = [i for i in near if i < at]
    if before and found[before[-1]].kind == LOAD:
        load = found[before[-1]]
        found[before[-1]] = Event(LOAD, load.size, rtl.ACQUIRE, address=load.address)
    if not near:
        found[at] = Event(FENCE, order=_ACQUIRE_AND_RELEASE)


def _event(s: Statement) -> Event | None:
    if s.kind is not Kind.INSTRUCTION:
        return None
    if s.mnemonic == "mfence":
        return Event(FENCE)
    if is_string_operation(s):
        repeated = any(prefix.startswith("rep") for prefix in s.prefixes)
        return Event(_STRING[s.mnemonic[:4]], string_bytes(s), int(repeated))
    gathered = _GATHER.match(s.mnemonic)
    if gathered is not None:
        return _gather(s, gathered[2] == "gather", gathered[3], gathered[4])
    accesses = accesses_of(s)
    if not accesses or s.mnemonic.startswith(("push", "call")):
        return None
    locked = "lock" in s.prefixes or s.mnemonic.startswith("xchg")
    if locked:
        return _locked(s, accesses[0])
    facts = rtl.memory_facts(s.rtl)
    access = accesses[0]
    if not facts.volatile or access.size > 8 or access.address.segment == "gs":
        return None
    writes = bool(access.how & WRITE)
    if not facts.atomic:
        kind = VOLATILE_WRITE if writes else VOLATILE_READ
        return Event(kind, access.size, address=access.address)
    if writes:
        return Event(STORE, access.size, rtl.order_of(s.rtl), address=access.address)
    return Event(LOAD, access.size, rtl.RELAXED, address=access.address)


def _locked(s: Statement, access: Access) -> Event | None:
    if s.mnemonic.startswith("or") and access.address.base == "rsp" and s.operands[0] == "$0":
        return Event(FENCE)
    if access.size > 8 or s.mnemonic.endswith(("8b", "16b")):
        return None
    kind = CHANGE
    if s.mnemonic.startswith("xchg"):
        kind = EXCHANGE
    elif s.mnemonic.startswith("cmpxchg"):
        kind = COMPARE_EXCHANGE
    return Event(kind, access.size, rtl.order_of(s.rtl), address=access.address)


def _gather(s: Statement, gathers: bool, index: str, element: str) -> Event | None:
    access = next((a for a in _vector_addresses(s)), None)
    if access is None:
        return None
    plain = [operand for operand in s.operands if operand.startswith("%")]
    vector = plain[-1].split("{")[0]
    size = 8 if element in ("pd", "q") else 4
    index_bytes = 8 if index == "q" else 4
    lanes = min(
        registers.size_of_register(vector) // size,
        registers.size_of_register(f"%{access.index}") // index_bytes,
    )
    base = Address(access.segment, access.symbol, access.offset, access.base, "", "")
    mask = plain[0] if gathers and len(plain) == 2 else ""
    return Event(
        GATHER if gathers else SCATTER,
        size,
        int(access.scale or 1),
        lanes,
        index_bytes,
        base,
        f"%{access.index}",
        mask,
    )


def _vector_addresses(s: Statement) -> list[Address]:
    from autofinity.capture.assembly.accesses import parse_address

    found = [parse_address(operand.split("{")[0]) for operand in s.operands if "(" in operand]
    return [address for address in found if address is not None and address.is_gathered]
