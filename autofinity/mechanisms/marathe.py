"""Marathe & Mueller, Hardware Profile-Guided Automatic Page Placement for ccNUMA Systems, PPoPP
2006, as kMAF'16 (section 2.1.3) and SAMMU (sections 2 and 4.3) describe it.

Pages only: long-latency loads are sampled "only during the start of each application", then each
page goes to the node with most of them.

Deviations: the papers take the profile from an earlier run or feed it in; here it is of the first
tenth of the run itself. Sampling goes on (a sensor is not switched off) and is charged.
"""

from __future__ import annotations

from collections.abc import Sequence

from autofinity.mapping.pages import most_accessing
from autofinity.mechanisms.recipe import UNMANAGED, Setting
from autofinity.mechanisms.sharing_aware import by, sent
from autofinity.model.detection import AccessSampling
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Action, Interval, Sensors

PROFILE_MS = 6000
"""Time of the profile in a paper's run of a minute."""
LOADS_PER_SAMPLE = 200


class Marathe:
    """`marathe`."""

    name = "marathe"
    start = UNMANAGED
    sensors = Sensors(
        detectors=(AccessSampling(what="long-latency loads", period=LOADS_PER_SAMPLE),)
    )

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def begin(self, topology: Topology, available: frozenset[OsIndex], threads: int) -> bool:
        """Whether the pages were placed."""
        return False

    def period_ns(self, state: bool) -> int:
        """One look: at the end of the profile."""
        return self._setting.ns(PROFILE_MS)

    def step(self, state: bool, interval: Interval) -> tuple[bool, Sequence[Action]]:
        """Place all pages after the first look."""
        if state or interval.pages is None:
            return state, ()
        return True, sent(interval.pages, by(most_accessing), self._setting.threads)
