"""The key to the picture of a machine: the signs that are in the picture, and no others."""

from __future__ import annotations

import pytest

from autofinity.model.topology import Topology
from autofinity.report.picture import draw, key
from autofinity.sim.preset import load_preset

OPTERON = load_preset("opteron-6164he").topology
HYBRID = load_preset("i9-13900k").topology
FREE, UNUSABLE = "-: a free CPU", "·: a CPU that may not be used"
OF_A_CORE, OF_A_CPU = "a/b: CPUs of one core", "a+b: threads of one CPU"


@pytest.mark.parametrize(
    ("topology", "cpus", "available", "signs"),
    [
        (OPTERON, None, None, ["cells: CPUs"]),
        (OPTERON, None, frozenset({0, 1}), ["cells: CPUs", UNUSABLE]),
        (OPTERON, (0, 1), None, ["cells: threads", FREE]),
        (OPTERON, (0, 1), frozenset({0, 1}), ["cells: threads", UNUSABLE]),
        (OPTERON, tuple(sorted(OPTERON.allowed)), None, ["cells: threads"]),
        (OPTERON, (0, 0), None, ["cells: threads", FREE, OF_A_CPU]),
        (HYBRID, None, None, ["cells: CPUs", OF_A_CORE]),
        (HYBRID, (0,), None, ["cells: threads", FREE, OF_A_CORE]),
    ],
)
def test_the_key_has_the_signs_of_the_picture(
    topology: Topology,
    cpus: tuple[int, ...] | None,
    available: frozenset[int] | None,
    signs: list[str],
) -> None:
    assert key(topology, cpus, available) == "; ".join(signs)
    drawn = draw(topology, 80, cpus, available).plain.split()
    cells = [part for cell in drawn for part in cell.split("/")]
    assert ("-" in cells) == (FREE in signs)
    assert ("·" in cells) == (UNUSABLE in signs)
    assert any("/" in cell for cell in drawn) == (OF_A_CORE in signs)
    assert any("+" in cell for cell in drawn) == (OF_A_CPU in signs)
