"""Shipped observations of a few programs on one machine, as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from autofinity.store.observations import write_one
from autofinity.workflow.observations import observations_of

FEW_ON = "xeon-e5-2650"
FEW = ("cg", "lu", "md", "pic")
"""Programs, with eight threads and small inputs."""


def write_few(file: Path) -> Path:
    """Write the file and return its path."""
    table = observations_of(FEW_ON)
    some = np.isin(table.program.text(), FEW) & table.input.equals("small") & (table.threads == 8)
    write_one(table.take(some), file, packed=False)
    return file
