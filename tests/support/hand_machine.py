"""Machines small and round enough to work a program's every count out by hand.

Two packages of two dies, each die one node and one LLC of three cores. Of core 0, cores 1 and 2
share the LLC, 3-5 the package, 6-8 are one hop away, 9-11 two. One clock is one nanosecond and one
instruction:

    L1    2 sets x 2 ways    set = line & 1      3 clocks
    L2    4 sets x 2 ways    set = line & 3     15 clocks
    LLC   8 sets x 2 ways    set = line & 7     40 clocks
    TLB   4 entries, then 4 sets x 2 ways (set = page & 3), 5 clocks; a walk 15 more; a fault 700

A page's frame decides only bits above the sixth of a line's number, so `line` may be counted from
the start of its page. All other numbers are in `hand_machine.toml`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from autofinity.sim.preset import read_preset
from autofinity.sim.spec import MachineSpec

SAME_LLC, SAME_PACKAGE, ONE_HOP, TWO_HOPS = 1, 3, 6, 9
"""A core at each distance of core 0."""

VICTIM = read_preset(Path(__file__).with_name("hand_machine.toml"))
"""As AMD's: exclusive L2, victim LLC, MOESI, clean lines of other dies come from memory."""


def _inclusive(spec: MachineSpec) -> MachineSpec:
    (cores,) = spec.core_classes
    assert cores.l2 is not None
    return replace(
        spec,
        core_classes=(replace(cores, l2=replace(cores.l2, inclusion="inclusive")),),
        llc=replace(spec.llc, inclusion="inclusive"),
        protocol="mesi",
        clean_forwarding=True,
    )


INCLUSIVE = _inclusive(VICTIM)
"""As Intel's before Skylake-SP: inclusive L2 and LLC, MESIF."""
