"""A line that other caches have costs what the preset's table says for state and distance.

The tables are those of David, Guerraoui & Trigonakis, SOSP 2013, for the machines they measured,
and what each preset file names for the others.
"""

from __future__ import annotations

import pytest
from measure_latency import LOAD, STORE, UPDATE, line_ns
from sim_programs import cores_by_distance, sharers_of_an_l2, without_prefetch

from autofinity.model.topology import OsIndex
from autofinity.sim.preset import load_preset, preset_names

WITHIN = 0.05


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize(
    ("access", "table"),
    [
        (LOAD, "load_modified"),
        (STORE, "store_modified"),
        (UPDATE, "atomic_modified"),
        (STORE, "store_shared"),
        (UPDATE, "atomic_shared"),
    ],
    ids=["load of M", "store to M", "atomic on M", "store to S", "atomic on S"],
)
def test_a_line_is_taken_from_the_other_at_the_latency_of_its_distance(
    name: str, access: tuple[int, int, int], table: str
) -> None:
    spec = without_prefetch(load_preset(name))
    shared = table.endswith("_shared")
    for distance, others in cores_by_distance(spec).items():
        got = line_ns(spec, [(others[0], int(not shared))], access, have_it=shared)
        expected = getattr(spec.latency, table)[distance]
        assert got == pytest.approx(expected, rel=WITHIN), f"distance {distance}"


@pytest.mark.parametrize("name", preset_names())
def test_a_shared_line_is_loaded_from_the_nearest_that_may_give_it(name: str) -> None:
    """MOESI: the owner, which keeps a modified line as O. MESIF: the socket that got it last."""
    spec = without_prefetch(load_preset(name))
    if spec.protocol == "mesi" and not spec.clean_forwarding:
        pytest.skip("clean lines come from memory on this machine")
    for distance, near in cores_by_distance(spec).items():
        if len(near) < 2 or (distance == 0 and spec.llc.inclusion == "inclusive"):
            continue  # inside an inclusive domain the LLC has it
        sharers = [(near[0], int(spec.protocol == "moesi")), (near[1], 0)]
        expected = spec.latency.load_shared[distance]
        assert line_ns(spec, sharers, LOAD) == pytest.approx(expected, rel=WITHIN), (
            f"distance {distance}"
        )


@pytest.mark.parametrize("name", ["opteron-6386", "i9-13900k"])
@pytest.mark.parametrize(
    ("sibling_stores", "access", "have_it"),
    [(1, LOAD, False), (1, STORE, False), (0, STORE, True)],
    ids=["load of M", "store to M", "store to S"],
)
def test_cores_that_share_an_l2_pass_lines_at_its_latency(
    name: str, sibling_stores: int, access: tuple[int, int, int], have_it: bool
) -> None:
    spec = without_prefetch(load_preset(name))
    sibling, own, *_ = sharers_of_an_l2(spec)
    kind = spec.core_classes[spec.class_of_core[spec.topology.by_os_index[OsIndex(own)].core]]
    assert kind.l2 is not None
    got = line_ns(spec, [(sibling, sibling_stores)], access, have_it=have_it, pu=own)
    assert got == pytest.approx(kind.l2.latency_ns, rel=WITHIN)
