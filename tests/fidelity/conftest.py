from __future__ import annotations

import pytest

from autofinity.sim.preset import load_preset
from autofinity.sim.spec import MachineSpec


@pytest.fixture(scope="session")
def opteron() -> MachineSpec:
    return load_preset("opteron-6164he")
