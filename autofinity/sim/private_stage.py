"""When a replay may start from the private stage of a program, and the stages at hand.

    program ──derive, once per page-colour seed──► stage ──► every affinity

An approximation, used only where `SimMachine` is asked for it.

A stage holds what leaves the cores' own caches (`native/sim/private_stage.hpp` says how it is found
and what it leaves out). It takes 16 bytes a step, like the program it is made from.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from autofinity._core import sim as core
from autofinity.sim.spec import MachineSpec

MOST_RACING = 0.25
"""With a larger share of racing accesses among those kept, the full stream is replayed.

Accesses race by false sharing and hand-made synchronisation: the timing of the derivation decides
what they find, and few are left out. Where to draw the line is a judgement, not a measurement:
when a quarter of what is kept hangs on timing, neither speed nor agreement can be promised."""
MOST_STAGES = 4
"""Kept at once: one a page-colour seed of the program under way."""
MOST_STREAMS = 64


def groups_of(spec: MachineSpec, pus: Sequence[int]) -> tuple[int, ...]:
    """Which streams share a core: group of each stream, numbered in order of appearance."""
    number: dict[int, int] = {}
    return tuple(number.setdefault(spec.topology.pus[pu].core, len(number)) for pu in pus)


def may_have_stage(
    spec: MachineSpec, program: core.Program, pus: Sequence[int], workers: Sequence[int]
) -> bool:
    """Whether every worker has a core of its own, on a machine and in a program with a stage."""
    return (
        # An inclusive LLC takes lines back from the cores, unseen by what was left out.
        spec.llc.inclusion == "victim"
        # Compared with the full stream on exclusive levels only (scripts/compare_private_stage.py).
        and spec.l2 is not None
        and spec.l2.inclusion == "exclusive"
        and not program.has_units
        and program.streams <= MOST_STREAMS
        and len(spec.core_classes) == 1
        and len({spec.topology.pus[pus[worker]].core for worker in workers}) == len(workers)
    )


class PrivateStages:
    """Stages of the latest program, derived when first asked for. Safe to use from many threads."""

    def __init__(self, spec: MachineSpec, native: core.Machine) -> None:
        self._spec = spec
        self._native = native
        self._lock = threading.Lock()
        self._program: core.Program | None = None
        self._stages: OrderedDict[tuple[tuple[int, ...], int], core.Program | None] = OrderedDict()

    def stage_of(
        self, program: core.Program, pus: Sequence[int], workers: Sequence[int], seed: int
    ) -> core.Program | None:
        """The stage to replay instead of `program`, or None where the full stream is needed.

        The same for every placement in which the same streams share cores: what is derived does
        not depend on who asks first.
        """
        if not may_have_stage(self._spec, program, pus, workers):
            return None
        groups = groups_of(self._spec, pus)
        key = (groups, seed)
        with self._lock:
            if self._program is not program:
                self._stages.clear()
                self._program = program
            if key not in self._stages:
                while len(self._stages) >= MOST_STAGES:
                    self._stages.popitem(last=False)
                self._stages[key] = self._derive(program, groups, seed)
            self._stages.move_to_end(key)
            return self._stages[key]

    def _derive(
        self, program: core.Program, groups: Sequence[int], seed: int
    ) -> core.Program | None:
        """On the machine's first cores, one a group."""
        first_pu: dict[int, int] = {}
        for index, pu in enumerate(self._spec.topology.pus):
            first_pu.setdefault(pu.core, index)
        cores = list(first_pu.values())
        stage = core.derive_private_stage(
            self._native, program, [cores[group] for group in groups], seed=seed
        )
        return None if stage.racing_share > MOST_RACING else stage
