"""Costs of lines and locks that two threads use at once."""

from __future__ import annotations

from sim_programs import BASE, FIRST_WRITE, cpus, load_all, region, write_all

from autofinity._core.trace import TraceBuilder
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

ROUNDS = 2000


def false_sharing_of(spec: MachineSpec, cpu: int, store_ns: float) -> tuple[float, float]:
    """Transfers for each store, and time of each transfer, when the first PU and `cpu` store to one
    line.

    Each stores every quarter of `store_ns`, the latency of a store to a line of the other's.
    """
    gap = int(store_ns / 4 * spec.ghz * spec.core.base_ipc)
    builder = TraceBuilder()
    streams = [builder.stream(), builder.stream()]
    for stream in streams:
        builder.access(stream, BASE, reads=0, writes=1, flags=FIRST_WRITE)
        for barrier in (1, 2):  # nobody has to be woken from the second
            builder.barrier(stream, barrier, 2)
        if stream == 0:
            builder.roi_begin(stream)
        for _ in range(ROUNDS):
            builder.access(stream, BASE, reads=0, writes=1, gap=gap, flags=FIRST_WRITE)
        builder.barrier(stream, 3, 2)
    builder.roi_end(0)
    result = simulate(spec, builder.build(), cpus(0, cpu))
    transfers = sum(
        result.total(f"cache_to_cache_transfers_{where}")
        for where in ("same_llc", "same_package", "remote")
    )
    return transfers / (2 * ROUNDS), result.roi_ns / transfers


def handover_ns(spec: MachineSpec, cpu: int) -> float:
    """Time of one critical section when two threads, on the first PU and `cpu`, run nothing else.

    Raises AssertionError when they do not take turns.
    """
    builder = TraceBuilder()
    for stream in (builder.stream(), builder.stream()):
        for _ in range(ROUNDS):
            builder.lock(stream, BASE)
            builder.unlock(stream, BASE, gap=20)
    result = simulate(spec, builder.build(), cpus(0, cpu))
    assert result.total("lock_acquisitions") == 2 * ROUNDS
    assert result.total("lock_waits") > 0.9 * 2 * ROUNDS
    return result.roi_ns / (2 * ROUNDS)


def handed_over_ns(spec: MachineSpec, cpu: int, *, write: bool) -> float:
    """Time for each line when `cpu` gets neighbouring lines that the first PU has.

    The first PU has modified them and `cpu` loads them; or both have them and `cpu` stores to them.
    """
    lines = region(1)
    builder = TraceBuilder()
    first, second = builder.stream(), builder.stream()
    write_all(builder, first, lines)
    for stream in (first, second):
        builder.barrier(stream, 1, 2)
    load_all(builder, second, lines if write else lines[:1])  # the page is in the TLB, too
    builder.roi_begin(second)
    if write:
        write_all(builder, second, lines[1:])
    else:
        load_all(builder, second, lines[1:])
    builder.roi_end(second)
    result = simulate(spec, builder.build(), cpus(0, cpu))
    return result.roi_ns / (len(lines) - 1)
