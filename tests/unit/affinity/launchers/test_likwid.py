"""likwid-pin: expressions by its grammar on simulated machines, and by the tool itself here."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from launcher_tools import allowed_here, tool
from made_up_machine import cpus, machine
from small_cpuset import small_cpuset

from autofinity.affinity.hints import get_affinity
from autofinity.affinity.launchers.table import launcher_line
from autofinity.linux.topology import host_topology
from autofinity.model.affinity import HINTS
from autofinity.model.topology import PU, Cache, OsIndex, Topology

L3 = (Cache(3, 1 << 20, 64, 16, 4),)
SMT = machine(2, 1, 2, 4, 2, number=lambda core, rank: 16 * rank + core, caches=L3)


@pytest.mark.parametrize(
    ("allowed", "line"),
    [
        ({1, 2, 3, 5, 6, 7}, "likwid-pin -c 2,0,4"),  # 1,2,3, then their siblings 5,6,7
        ({1, 3, 6}, "likwid-pin -c 1,0,2"),
        (set(range(8)), "likwid-pin -c 3,1,6"),  # no cpuset: the kernel's numbers
    ],
)
def test_likwid_counts_the_cpus_of_a_cpuset(allowed: set[int], line: str) -> None:
    whole = machine(cores=4, smt=2, number=lambda core, rank: 4 * rank + core)
    chosen = tuple(OsIndex(cpu) for cpu in (3, 1, 6))
    within = whole.restricted(frozenset(map(OsIndex, allowed)))
    assert launcher_line("likwid", chosen, within) == line
    assert launcher_line("taskset", chosen, within) == "taskset -c 1,3,6"


def domain(topology: Topology, name: str) -> list[PU]:
    """CPUs of a domain of likwid that may be used, core by core."""
    return [
        pu
        for pu in topology.pus
        if pu.os_index in topology.allowed and (name == "N" or name == f"C{pu.llc}")
    ]


def expanded(topology: Topology, expression: str) -> list[int]:
    """CPUs of an expression by likwid-pin.md ("CPU expressions") and cpustring.c of likwid 5.2:
    places in a domain count first threads of cores before second ones, `E:` goes core by core.
    """
    if expression.startswith("E:"):
        _, name, count, chunk, stride = [*expression.split(":"), "1", "1"][:5]
        pus = domain(topology, name)
        starts = range(0, len(pus), int(stride))
        inside = [start + at for start in starts for at in range(int(chunk))]
        return [pus[at].os_index for at in inside if at < len(pus)][: int(count)]
    found = []
    for part in expression.split("@"):
        name, _, places = part.partition(":")
        pus = sorted(domain(topology, name), key=lambda pu: pu.smt_rank)
        found += [pus[int(place)].os_index for place in places.split(",")]
    return list(found)


@pytest.mark.parametrize("allowed", [range(32), range(3, 29), (1, 5, 9, 17, 21, 30)])
@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_expressions_give_the_cpus_in_their_order(allowed: range, threads: int) -> None:
    topology = SMT.restricted(cpus(*allowed))
    for hint in HINTS:
        wanted = get_affinity(topology, threads, hint).cpus
        line = launcher_line("likwid-domains", wanted, topology)
        assert expanded(topology, line.removeprefix("likwid-pin -c ")) == list(wanted), line


@pytest.mark.parametrize(
    ("chosen", "expression"),
    [
        ((0, 16, 1), "E:N:3"),
        ((0, 1, 2, 3, 4, 5), "E:N:6:1:2"),
        ((4, 5), "C1:0,1"),
        ((4, 5, 0), "C1:0,1@C0:0"),
        ((8, 24, 12), "C2:0,4@C3:0"),
    ],
)
def test_a_stride_is_written_where_there_is_one_and_else_caches(
    chosen: tuple[int, ...], expression: str
) -> None:
    line = launcher_line("likwid-domains", [OsIndex(cpu) for cpu in chosen], SMT)
    assert line == f"likwid-pin -c {expression}"


def test_caches_are_not_named_where_likwid_would_number_them_otherwise() -> None:
    even = machine(1, 1, 2, 2, caches=L3)
    odd = replace(even, pus=even.pus[:3], allowed=cpus(0, 1, 2))
    divided = replace(even, llc_parts=2)
    for topology in (odd, divided):
        line = launcher_line("likwid-domains", [OsIndex(2), OsIndex(0)], topology)
        assert line.endswith(" N:2,0")


@pytest.mark.parametrize("form", ["likwid", "likwid-domains"])
def test_likwid_pin_takes_the_cpus_in_their_order(form: str) -> None:
    pin = tool("likwid-pin")
    first, second = allowed_here(2)
    for wanted in ((first, second), (second, first), (second,)):
        line = launcher_line(form, wanted, host_topology())
        done = subprocess.run([pin, *line.split()[1:], "-p"], capture_output=True, text=True)
        assert done.stdout.split() == [",".join(map(str, wanted))], (line, done)


@pytest.mark.parametrize("form", ["likwid", "likwid-domains"])
@pytest.mark.parametrize("within", ["a mask", "a cpuset"])
def test_likwid_pin_takes_them_within_a_mask_and_a_cpuset(form: str, within: str) -> None:
    pin = tool("likwid-pin")
    last = allowed_here(2)[-1]
    here = host_topology().restricted(frozenset({last}))
    words = [pin, *launcher_line(form, [last], here).split()[1:], "-p"]
    if within == "a mask":
        done = subprocess.run(["taskset", "-c", str(last), *words], capture_output=True, text=True)
    else:
        with small_cpuset([last]) as group:
            done = subprocess.run([*group.command(), *words], capture_output=True, text=True)
    assert done.stdout.split()[-1:] == [str(last)], (words, done)
