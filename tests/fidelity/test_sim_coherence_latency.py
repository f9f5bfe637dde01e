"""A line that other caches have costs what the preset's table says for state and distance.

The tables are those of David, Guerraoui & Trigonakis, SOSP 2013, for the machines they measured,
and what each preset file names for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from sim_programs import (
    ATOMIC,
    DEPENDENT,
    FIRST_WRITE,
    LINES_PER_PAGE,
    cores_by_distance,
    cpus,
    region,
    shuffled_in_pages,
    without_prefetch,
)

from autofinity._core.trace import TraceBuilder
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec

WITHIN = 0.05


def ns_for_a_line(
    spec: MachineSpec,
    others: Sequence[tuple[int, int]],
    mine: tuple[int, int, int],
    *,
    have_it: bool = False,
) -> float:
    """The first core's mean time for `mine` (reads, writes, flags) on a line.

    Before that each of `others` (PU, stores to it) has in turn loaded the line or stored to it,
    and then (`have_it`) the first core has loaded it.
    """
    builder = TraceBuilder()
    streams = [builder.stream() for _ in range(len(others) + 1)]
    lines = shuffled_in_pages(region(2))
    lines = [line for line in lines if line % LINES_PER_PAGE]
    for number, (_, stores) in enumerate(others):
        if number:
            builder.wait(streams[number], number)
        for line in lines:
            builder.access(
                streams[number], line, int(not stores), stores, flags=FIRST_WRITE * stores
            )
        builder.post(streams[number], number + 1)
    reader = streams[-1]
    builder.wait(reader, len(others))
    # Translations first, by a line of the page that nobody else has.
    for line in (*region(2)[::LINES_PER_PAGE], *lines):
        if have_it or line % LINES_PER_PAGE == 0:
            builder.access(reader, line)
    builder.compute(reader, gap=10_000)
    builder.roi_begin(reader)
    reads, writes, flags = mine
    for line in lines:
        builder.access(reader, line, reads, writes, gap=0, flags=flags)
    builder.roi_end(reader)
    first = min(spec.topology.pus, key=lambda pu: (pu.core, pu.smt_rank)).os_index
    placed = cpus(*(pu for pu, _ in others), int(first))
    return simulate(spec, builder.build(), placed, skew_ns=1.0).roi_ns / len(lines)


LOAD, STORE, UPDATE = (1, 0, DEPENDENT), (0, 1, FIRST_WRITE | DEPENDENT), (1, 1, ATOMIC)
"""Each waited for: a store alone would go on in the store buffer."""


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize(
    ("access", "table"),
    [
        (LOAD, lambda spec: spec.latency.load_modified),
        (STORE, lambda spec: spec.latency.store_modified),
        (UPDATE, lambda spec: spec.latency.atomic_modified),
    ],
    ids=["load", "store", "atomic"],
)
def test_a_modified_line_comes_at_the_latency_of_its_distance(
    name: str,
    access: tuple[int, int, int],
    table: Callable[[MachineSpec], tuple[float, ...]],
) -> None:
    spec = without_prefetch(load_preset(name))
    for distance, near in cores_by_distance(spec).items():
        expected = table(spec)[distance]
        assert ns_for_a_line(spec, [(near[0], 1)], access) == pytest.approx(expected, rel=WITHIN), (
            f"distance {distance}"
        )


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize(
    ("access", "table"),
    [
        (STORE, lambda spec: spec.latency.store_shared),
        (UPDATE, lambda spec: spec.latency.atomic_shared),
    ],
    ids=["store", "atomic"],
)
def test_a_shared_line_is_taken_from_the_other_at_the_latency_of_its_distance(
    name: str,
    access: tuple[int, int, int],
    table: Callable[[MachineSpec], tuple[float, ...]],
) -> None:
    spec = without_prefetch(load_preset(name))
    for distance, others in cores_by_distance(spec).items():
        expected = table(spec)[distance]
        got = ns_for_a_line(spec, [(others[0], 0)], access, have_it=True)
        assert got == pytest.approx(expected, rel=WITHIN), f"distance {distance}"


@pytest.mark.parametrize("name", preset_names())
def test_a_shared_line_is_loaded_from_the_nearest_that_may_give_it(name: str) -> None:
    """MOESI: the owner, which keeps a modified line as O. MESIF: the nearest clean copy."""
    spec = without_prefetch(load_preset(name))
    if spec.protocol == "mesi" and not spec.clean_forwarding:
        pytest.skip("clean lines come from memory on this machine")
    for distance, near in cores_by_distance(spec).items():
        if len(near) < 2 or (distance == 0 and spec.llc.inclusion == "inclusive"):
            continue  # inside an inclusive domain the LLC has it
        sharers = [(near[0], int(spec.protocol == "moesi")), (near[1], 0)]
        expected = spec.latency.load_shared[distance]
        assert ns_for_a_line(spec, sharers, LOAD) == pytest.approx(expected, rel=WITHIN), (
            f"distance {distance}"
        )
