from __future__ import annotations

import pytest
from sim_programs import without_prefetch

from autofinity.sim.preset import load_preset
from autofinity.sim.spec import MachineSpec


@pytest.fixture(scope="session")
def opteron() -> MachineSpec:
    """The machine without its prefetchers, so that misses can be counted."""
    return without_prefetch(load_preset("opteron-6164he"))
