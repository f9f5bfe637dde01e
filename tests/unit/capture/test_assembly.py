"""Assembly that GCC made, understood and instrumented."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from autofinity.capture import ways
from autofinity.capture.assembly.accesses import POINTER, READ, WRITE, accesses_of
from autofinity.capture.assembly.events import (
    CHANGE,
    EXCHANGE,
    FENCE,
    LOAD,
    STORE,
    VOLATILE_READ,
    events_of,
)
from autofinity.capture.assembly.instrument import instrument
from autofinity.capture.assembly.liveness import ControlFlow, needed_before
from autofinity.capture.assembly.registers import FLAGS, bit
from autofinity.capture.assembly.statements import AssemblyError, Kind, split_statements

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="for x86-64 only")
GCC_SAYS = "gcc (Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n"

ATOMICS = """
#include <stdatomic.h>
volatile int flag;
int relaxed(atomic_int* p) { return atomic_load_explicit(p, memory_order_relaxed); }
int acquires(atomic_int* p) { return atomic_load_explicit(p, memory_order_acquire); }
void releases(atomic_int* p) { atomic_store_explicit(p, 1, memory_order_release); }
int swaps(atomic_int* p) { return atomic_exchange(p, 7); }
int adds(atomic_int* p) { return atomic_fetch_add_explicit(p, 3, memory_order_relaxed); }
int looks(void) { return flag; }
void fences(void) { atomic_thread_fence(memory_order_acquire); }
"""


def _compiled(folder: Path, source: str, flags: str = "-O2") -> str:
    (folder / "p.c").write_text(source)
    command = ["gcc", *flags.split(), "-dP", "-S", folder / "p.c", "-o", folder / "p.s"]
    subprocess.run(command, check=True)
    return (folder / "p.s").read_text()


def test_atomics_and_volatiles_are_told_with_their_memory_order(tmp_path: Path) -> None:
    statements = split_statements(_compiled(tmp_path, ATOMICS))
    flow = ControlFlow(statements)
    found = {
        flow.function_of[at]: (event.kind, event.order)
        for at, event in events_of(statements).items()
    }
    assert found == {
        "relaxed": (LOAD, 0),
        "acquires": (LOAD, 2),
        "releases": (STORE, 3),
        "swaps": (EXCHANGE, 5),
        "adds": (CHANGE, 0),
        "looks": (VOLATILE_READ, 5),
        "fences": (FENCE, 4),  # nothing shows which of the two sides it is for
    }


@pytest.mark.parametrize("flags", ["-O0", "-O2", "-O3 -march=x86-64-v3", "-O2 -fPIC"])
def test_the_programs_own_instructions_stay_as_they_are(tmp_path: Path, flags: str) -> None:
    text = _compiled(tmp_path, ATOMICS, flags)
    lines = iter(instrument(text, shared="PIC" in flags).splitlines())
    own = [s.text for s in split_statements(text) if s.kind is not Kind.BLOCKAGE]
    assert all(line in lines for line in own)  # in this order


@pytest.mark.parametrize(
    ("code", "size", "how"),
    [
        ("movq 8(%rdi), %rax", 8, READ | POINTER),
        ("movzbl (%rdi,%rcx,4), %eax", 1, READ),
        ("addl $1, x(%rip)", 4, READ | WRITE),
        ("cmpq $0, (%rsp)", 8, READ),
        ("vmovupd %ymm1, (%rax)", 32, WRITE),
        ("vaddsd (%rax), %xmm1, %xmm2", 8, READ),
        ("pushq %rbx", 8, WRITE),
        ("leaq 8(%rdi), %rax", 0, 0),
    ],
)
def test_an_access_has_the_size_and_direction_of_its_instruction(
    code: str, size: int, how: int
) -> None:
    (statement,) = split_statements(f"\t{code}")
    assert [(a.size, a.how) for a in accesses_of(statement)] == ([(size, how)] if size else [])


def test_what_is_read_later_is_needed_and_what_is_overwritten_is_not() -> None:
    statements = split_statements(
        "\t.type f, @function\nf:\n\tcmpl %esi, %edi\n\tmovl (%rdx), %ecx\n\tje .L1\n"
        "\taddl %ecx, %edi\n.L1:\n\tmovl %edi, %eax\n\tret"
    )
    needed = needed_before(ControlFlow(statements))
    at_load = next(i for i, s in enumerate(statements) if s.operands[:1] == ("(%rdx)",))
    assert needed[at_load] & FLAGS
    assert needed[at_load] & bit("rdi")
    assert not needed[at_load] & (bit("rcx") | bit("rax") | bit("rsi"))


def test_intel_syntax_is_refused_with_what_is_expected() -> None:
    with pytest.raises(AssemblyError, match="AT&T"):
        instrument("\t.intel_syntax noprefix\n")


def test_other_compilers_than_gcc_are_instrumented_the_next_best_way() -> None:
    path = {"PATH": "/usr/bin:/bin"}
    assert ways.ways({"gcc": GCC_SAYS}, path)[0].counted == "code"
    old = GCC_SAYS.replace("12.2.0", "8.3.0")
    for other in (
        {"gcc": old},
        {"clang": "Debian clang version 14.0.6"},
        {"gcc": GCC_SAYS, "x": "?"},
    ):
        found = ways.ways(other, path)
        assert [way.counted for way in found][:1] == ["blocks"]
    assert ways.ways({"gcc": GCC_SAYS}, {"PATH": "/nowhere"})[0].counted == "blocks"
