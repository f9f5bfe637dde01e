"""Machines of one shape throughout, for tests of placement."""

from __future__ import annotations

from collections.abc import Callable

from autofinity.model.topology import PU, Cache, OsIndex, Topology


def machine(
    packages: int = 1,
    nodes: int = 1,
    llcs: int = 1,
    cores: int = 4,
    smt: int = 1,
    *,
    near: int = 16,
    far: int = 22,
    number: Callable[[int, int], int] | None = None,
    caches: tuple[Cache, ...] = (),
) -> Topology:
    """A machine of `packages` × `nodes` × `llcs` × `cores` × `smt`.

    `number` gives the CPU of a core and SMT rank, without it CPUs are numbered in that order. Nodes
    of one package have the distance `near`, other nodes `far`.
    """
    pus = []
    for core in range(packages * nodes * llcs * cores):
        llc = core // cores
        node = llc // llcs
        for rank in range(smt):
            cpu = number(core, rank) if number else len(pus)
            pus.append(PU(OsIndex(cpu), rank, core, llc, node // nodes, node))
    every = range(packages * nodes)
    distances = tuple(
        tuple(10 if a == b else near if a // nodes == b // nodes else far for b in every)
        for a in every
    )
    return Topology(
        "made-up",
        "synthetic",
        tuple(pus),
        tuple(map(OsIndex, every)),
        distances,
        frozenset(pu.os_index for pu in pus),
        caches,
    )


def cpus(*numbers: int) -> frozenset[OsIndex]:
    return frozenset(map(OsIndex, numbers))
